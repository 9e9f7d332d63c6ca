import type { Core } from "../core.ts";
import { breather } from "../kit/breathe.ts";
import { teamIndex } from "./index.ts";
import type { Kind } from "./paths.ts";

/** What to look for: commits (at least seven hexadecimal digits of each) and paths of files. */
export interface Wanted {
  readonly commits: readonly string[];
  readonly files: readonly string[];
  /** Paths mean something in their own repository only; commits are looked for in all of the team's. */
  readonly repoKey: string;
}

/** A place in the team's current brain that names a commit or a file. */
export interface Mention {
  readonly repoKey: string;
  readonly path: string;
  readonly kind: Kind;
  /** Of the section that it stands in; `""` for what precedes the first heading. */
  readonly heading: string;
  /** 1-based line of the place itself. */
  readonly line: number;
  /** That line, cut to 240 characters around the place. */
  readonly text: string;
  readonly names: { readonly kind: "commit" | "file"; readonly value: string };
}

export interface Mentions {
  /** By repository, path and line; of one thing named several times in a section only the first place. */
  readonly mentions: readonly Mention[];
  /** Not everything was looked through, or not every place is listed. */
  readonly cutShort: boolean;
}

const LOOKED_THROUGH: readonly Kind[] = ["error", "security", "anti-pattern", "decision"];
const MOST_TEXT = 16 * 1024 * 1024;
const MOST_MENTIONS = 50;
const MOST_WANTED = 500;
const SHORTEST_SHA = 7;
/** Agents may send abbreviated commits; one this long is whole. */
const FULL_SHA = 40;
const EXCERPT_CHARS = 240;

/** A commit as people write it, or a run of what paths are made of. */
const WORD = /[^\s`"'()[\]{}<>|,;*]+/g;

/**
 * Where the errors, decisions, security notes and anti-patterns of a team's current brain name one of the commits (by a
 * beginning of its SHA of at least seven digits, or in full) or one of the files (by its whole path). Nothing is guessed: a
 * file's bare name is no mention of it, unless the name is all of its path.
 */
export async function findMentions(core: Core, teamId: string, wanted: Wanted): Promise<Mentions> {
  const commits = shasByBeginning(wanted.commits);
  const files = sortPaths(wanted.files.slice(0, MOST_WANTED));
  const found: Mention[] = [];
  if (commits.size === 0 && wanted.files.length === 0) return { mentions: found, cutShort: false };
  const index = await teamIndex(core, teamId);
  const breathe = breather(core.clock);
  let room = MOST_TEXT;
  let cutShort = wanted.files.length > MOST_WANTED || wanted.commits.length > MOST_WANTED;
  for (const document of index.documents.values()) {
    const own = document.repoKey === wanted.repoKey;
    if (!LOOKED_THROUGH.includes(document.kind) || (!own && commits.size === 0)) continue;
    room -= document.text.length;
    if (room < 0 || found.length >= MOST_MENTIONS) {
      cutShort = true;
      break;
    }
    const { repoKey, path, kind, heading, text } = document;
    for (const { at, names } of placesIn(text, commits, own ? files : NO_PATHS)) {
      if (found.length >= MOST_MENTIONS) break;
      found.push({
        repoKey,
        path,
        kind,
        heading,
        line: document.line + linesBefore(text, at),
        text: lineAt(text, at),
        names,
      });
    }
    await breathe();
  }
  found.sort((a, b) => compare(a.repoKey, b.repoKey) || compare(a.path, b.path) || a.line - b.line);
  return { mentions: found, cutShort };
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

function shasByBeginning(commits: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const shas = commits
    .slice(0, MOST_WANTED)
    .map((sha) => sha.toLowerCase())
    .filter((sha) => /^[0-9a-f]{7,64}$/.test(sha));
  return Map.groupBy(new Set(shas), (sha) => sha.slice(0, SHORTEST_SHA));
}

interface Paths {
  readonly plain: ReadonlySet<string>;
  /** Paths with a space or a bracket in them, which no word of a text holds: each costs a walk through it. */
  readonly odd: readonly string[];
}

const MOST_ODD = 50;
const NO_PATHS: Paths = { plain: new Set(), odd: [] };

function sortPaths(paths: readonly string[]): Paths {
  const isPlain = (path: string) => path.match(WORD)?.[0] === path;
  return { plain: new Set(paths.filter(isPlain)), odd: paths.filter((path) => !isPlain(path)).slice(0, MOST_ODD) };
}

interface Place {
  readonly at: number;
  readonly names: Mention["names"];
}

function placesIn(text: string, commits: ReadonlyMap<string, readonly string[]>, { plain, odd }: Paths): Place[] {
  const places = new Map<string, Place>();
  const note = (kind: "commit" | "file", value: string, at: number) => {
    if (!places.has(`${kind} ${value}`)) places.set(`${kind} ${value}`, { at, names: { kind, value } });
  };
  for (const match of text.matchAll(WORD)) {
    // A sentence's end, a line's number, a folder's own mark are no part of a path.
    const word = match[0].replace(/^\.\//, "").replace(/[.:!?]+$/, "");
    const path = word.replace(/(?:[:#]L?\d+(?:-L?\d+)?)+$/, "");
    if (plain.has(path)) note("file", path, match.index);
    else if (plain.has(word)) note("file", word, match.index);
    if (commits.size === 0 || word.length < SHORTEST_SHA) continue;
    // Also within an address or a range: `…/commit/abc1234`, `abc1234..def5678`, `repo@abc1234`.
    for (const hex of word.toLowerCase().matchAll(/(?<![\p{L}\p{N}])[0-9a-f]{7,64}(?![\p{L}\p{N}])/gu)) {
      const sha = commits
        .get(hex[0].slice(0, SHORTEST_SHA))
        ?.find((one) => one.startsWith(hex[0]) || (one.length < FULL_SHA && hex[0].startsWith(one)));
      if (sha !== undefined) note("commit", sha, match.index);
    }
  }
  for (const path of odd) {
    const at = text.indexOf(path);
    if (at !== -1 && !/[\p{L}\p{N}_/]/u.test(text.charAt(at - 1) + text.charAt(at + path.length)))
      note("file", path, at);
  }
  return [...places.values()].sort((a, b) => a.at - b.at);
}

function linesBefore(text: string, at: number): number {
  return (text.slice(0, at).match(/\r\n|[\r\n]/g) ?? []).length;
}

function lineAt(text: string, at: number): string {
  const from = Math.max(text.lastIndexOf("\n", at - 1) + 1, at - EXCERPT_CHARS / 2);
  const end = text.indexOf("\n", at);
  const to = Math.min(end === -1 ? text.length : end, from + EXCERPT_CHARS);
  return text.slice(from, to).toWellFormed().replace(/\s+/g, " ").trim();
}
