import { createHash } from "node:crypto";
import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
} from "node:fs";
import { join } from "node:path";
import { SECOND_MS } from "../../kit/clock.ts";
import { sha256Hex } from "../../kit/hash.ts";
import { RULES_VERSION, redactText } from "../../redact/redact.ts";
import { commonDirectory, git } from "../git.ts";
import { isStill } from "../repository.ts";
import { byRank } from "./rank.ts";

/** A markdown file of a brain, as it lies in a work tree. */
export interface TreeFile {
  /** Below the top of the work tree, with `/` between. */
  readonly path: string;
  readonly bytes: number;
}

/** A work tree with what may be its brain. */
export interface Tree {
  /** Its top, without links in its path. */
  readonly root: string;
  readonly files: readonly TreeFile[];
  /** When the newest of the files was changed, in milliseconds since the epoch; 0 without any. */
  readonly changedAt: number;
  /** Changes with any of the files, with what git ignores and with the rules of redaction. */
  readonly signature: string;
}

/**
 * All markdown below these is part of the brain: what agents note for each other (the last two where tools keep their notes
 * elsewhere), and records of decisions.
 */
export const FOLDERS = [".claude/brain", "docs/adr", "docs/adrs", "docs/decisions", "docs/solutions", "memory-bank"];
/** These files are part of it, too: agents read them before every session. */
export const FILES = ["CLAUDE.md", ".claude/CLAUDE.md", "AGENTS.md", "GEMINI.md", ".github/copilot-instructions.md"];
/** As arguments of git. None has a character that git would take for a pattern. */
const BRAIN = ["--", ...FILES, ...FOLDERS];
const MARKDOWN = /\.(?:md|mdx|markdown)$/i;
/** Names that are looked at below each folder, and files of all folders, in the order in which files are kept. No brain has more. */
const MAX_NAMES = 50_000;
const MAX_FILES = 5_000;
/** Bytes read beyond what is kept, so that a secret across the cut is found whole. */
const BEYOND_BYTES = 64 * 1024;

/** Finds the files of a work tree that may be its brain, without reading them. @returns undefined when the work tree is gone */
export function lookAt(root: string): Tree | undefined {
  if (!isOwnPath(root) || statOf(join(root, ".git")) === undefined) return undefined;
  const paths = [...FILES, ...FOLDERS.flatMap((folder) => (isOwnPath(join(root, folder)) ? walk(root, folder) : []))];
  const files: TreeFile[] = [];
  const facts = [`rules ${RULES_VERSION}`];
  let changedAt = 0;
  for (const { path } of byRank(paths.map((each) => ({ path: each }))).slice(0, MAX_FILES)) {
    const stats = statOf(join(root, path));
    if (!stats?.isFile()) continue;
    files.push({ path, bytes: stats.size });
    facts.push(`${path}\0${stats.size} ${stats.mtimeMs} ${stats.ino}`);
    changedAt = Math.max(changedAt, stats.mtimeMs);
  }
  const ignores = statOf(join(root, ".gitignore"));
  facts.push(`ignores ${ignores?.size} ${ignores?.mtimeMs}`);
  return { root, files, changedAt, signature: sha256Hex(facts.join("\n")) };
}

/** Identifies a repository on this machine: equal for all its work trees, and another for a repository that lies there later. */
export function placeOf(root: string): string {
  const common = commonDirectory(join(root, ".git"));
  const { ino, birthtimeMs } = statOf(common) ?? {};
  return `${common}\0${ino} ${birthtimeMs}`;
}

/** The work trees of one repository that are there. */
export const treesAt = (roots: readonly string[]): Tree[] => roots.flatMap((root) => lookAt(root) ?? []);

/**
 * Of several work trees the one whose brain was changed last, of equal ones the first. A work tree where another repository lies by now
 * does not count; git may have to be asked for that.
 */
export function newestTree(repo: string, trees: readonly Tree[]): Tree | undefined {
  const isAlone = trees.length < 2;
  const dated = trees.map((tree) => ({ tree, at: isAlone ? tree.changedAt : editedAt(tree) }));
  return dated.sort((a, b) => b.at - a.at).find(({ tree }) => isStill(tree.root, repo))?.tree;
}

/** When uncommitted files of a brain were changed, or else when its last commit was made: in a fresh work tree all files are new. */
function editedAt({ root, changedAt }: Tree): number {
  const added = git(root, ["ls-files", "-z", "--others", "--exclude-standard", ...BRAIN]);
  const touched = git(root, ["diff-files", "-z", "--raw", "--no-abbrev", "--ignore-submodules=all", ...BRAIN]);
  const committed = git(root, ["log", "-1", "--format=%ct", ...BRAIN]);
  if (added === undefined || touched === undefined || committed === undefined) return changedAt;
  const edited = [...added.split("\0"), ...editedOf(root, touched)];
  const times = edited.map((path) => (MARKDOWN.test(path) && statOf(join(root, path))?.mtimeMs) || 0);
  const latest = Math.max(Number(committed) * SECOND_MS, ...times);
  // Of trees at one commit, one with uncommitted files is newer.
  return times.some((at) => at > 0) ? latest + 1 : latest;
}

/** A file up to this is compared by what it holds; a longer one that was touched counts as edited. */
const MAX_COMPARED = 4 * 1024 * 1024;

/**
 * Of the files that were touched since git looked last, those with another content. git would tell, too, but runs whatever filter the
 * repository names for it (gitattributes(5)).
 * @param touched what `git diff-files` says (git-diff(1), RAW OUTPUT FORMAT)
 */
function editedOf(root: string, touched: string): string[] {
  const fields = touched.split("\0");
  return fields.filter((path, i) => {
    const [, , id = ""] = i % 2 === 1 ? (fields[i - 1] as string).split(" ") : [];
    if (id === "") return false;
    const bytes = readInside(root, path, MAX_COMPARED + 1);
    if (bytes === undefined || bytes.length > MAX_COMPARED) return true;
    // git may be set to check out with other line ends.
    const asStored = Buffer.from(bytes.toString("latin1").replaceAll("\r\n", "\n"), "latin1");
    return ![bytes, asStored].some((one) => blobId(one, id.length) === id);
  });
}

/** The id that git gives to a content, in hex. */
const blobId = (content: Buffer, digits: number) =>
  createHash(digits === 40 ? "sha1" : "sha256")
    .update(`blob ${content.length}\0`)
    .update(content)
    .digest("hex");

/**
 * The files of a tree that git does not ignore: ignored ones stay on the machine.
 * @returns undefined when git does not answer
 */
export function unignoredFiles({ root, files }: Tree): TreeFile[] | undefined {
  if (files.length === 0) return [];
  const names = git(root, ["ls-files", "-z", "--cached", "--others", "--exclude-standard", ...BRAIN]);
  if (names === undefined) return undefined;
  const known = new Set(names.split("\0"));
  return files.filter(({ path }) => known.has(path));
}

/**
 * The beginning of a file as it may leave the machine, without secrets. Only a regular file inside the work tree is read, reached by
 * no link.
 * @param most bytes that are kept of it; a little more is read, for the caller to cut
 * @returns undefined when there is no such file
 */
export function readOutgoing(root: string, path: string, most: number): string | undefined {
  const bytes = readInside(root, path, most + BEYOND_BYTES);
  return bytes && redactText(bytes.toString("utf8").toWellFormed()).text;
}

/** The first bytes of a regular file inside a work tree. @returns undefined when it is none, or a link leads to it */
export function readInside(root: string, path: string, most: number): Buffer | undefined {
  const place = join(root, path);
  let fd: number | undefined;
  try {
    // A pipe would keep the reader waiting. Windows knows neither flag.
    fd = openSync(place, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    const stats = fstatSync(fd);
    if (!stats.isFile() || !isOwnPath(place) || lstatSync(place).ino !== stats.ino) return undefined;
    const buffer = Buffer.alloc(Math.min(stats.size, most));
    let at = 0;
    for (let read = 1; read > 0 && at < buffer.length; at += read)
      read = readSync(fd, buffer, at, buffer.length - at, at);
    return buffer.subarray(0, at);
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Whether a path leads where it says, through no link. */
export function isOwnPath(path: string): boolean {
  try {
    return realpathSync(path) === path;
  } catch {
    return false;
  }
}

function statOf(path: string) {
  return lstatSync(path, { throwIfNoEntry: false });
}

/** The markdown below a folder, what lies nearest first. Links are not followed. */
function walk(root: string, folder: string): string[] {
  const found: string[] = [];
  const folders = [folder];
  let left = MAX_NAMES;
  for (const below of folders)
    for (const entry of entriesOf(join(root, below))) {
      if (left-- <= 0) return found;
      const path = `${below}/${entry.name}`;
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isFile() && MARKDOWN.test(entry.name)) found.push(path);
    }
  return found;
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return [];
  }
}
