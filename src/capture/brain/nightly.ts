import { lstatSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { onWire, WIRE_FINGERPRINT } from "../../formats/errors/fingerprint.ts";
import { asCount, asObjects, asText, type Fields } from "../../formats/values.ts";
import { DAY_MS } from "../../kit/clock.ts";
import { isDate } from "../../kit/date.ts";
import { writeFileAtomically } from "../../kit/files.ts";
import { fail, invalid } from "../../kit/problem.ts";
import { ask } from "../client.ts";
import type { SessionHead } from "../session-head.ts";
import { type Capture, NOT_CONNECTED, readCredentials } from "../state.ts";
import { blockLines, DamagedBlockError, withBlock, withoutBlock } from "./block.ts";
import { readEntries } from "./entries.ts";
import { blockOf, type Decided, decide, isLessonsFile, type Lesson, lessonsFile } from "./lessons.ts";
import { treesByRepository } from "./publish.ts";
import { isOwnPath, newestTree, readInside, type Tree, treesAt } from "./tree.ts";
import { readWritten, writeWritten } from "./written.ts";

/** Sessions of this period tell what is being worked on. */
const RECENT_MS = 7 * DAY_MS;
const LESSONS_PATH = ".claude/brain/nightly.md";
const INSTRUCTIONS = ["CLAUDE.md", "AGENTS.md"];
const MAX_FILE_BYTES = 1024 * 1024;
/** Pages of links, 200 each. */
const MAX_PAGES = 20;

/** A file as it is and as it is to be; texts in Latin-1, so that no byte is lost. */
interface FileChange {
  readonly path: string;
  /** null where there is none. */
  readonly before: string | null;
  /** null to take it away. */
  readonly after: string | null;
}

/** What the nightly pass comes to in one repository. */
export interface NightlyResult {
  readonly repo: string;
  readonly root: string;
  readonly accepted: number;
  readonly proposed: number;
  readonly changes: readonly FileChange[];
  /** What was left as it is, and why. */
  readonly problems: readonly string[];
}

/**
 * Draws lessons from errors that came back, for every repository that agents worked in: in the work tree whose brain was changed last.
 * @param apply whether the files are written; else it is only found out what would be
 * @throws Problem where the machine is not connected
 */
export async function runNightly(capture: Capture, apply: boolean): Promise<NightlyResult[]> {
  if (!readCredentials(capture.places)) fail(invalid, NOT_CONNECTED);
  const results: NightlyResult[] = [];
  for (const [repo, roots] of treesByRepository(capture)) {
    const tree = newestTree(repo, treesAt(roots));
    if (!tree) continue;
    const plan = await planFor(capture, repo, tree);
    results.push(apply ? { ...plan, problems: [...plan.problems, ...write(capture, plan)] } : plan);
  }
  return results;
}

async function planFor(capture: Capture, repo: string, tree: Tree): Promise<NightlyResult> {
  const none = { repo, root: tree.root, accepted: 0, proposed: 0, changes: [] };
  try {
    const decided = decide(await lessonsOf(capture, repo, tree));
    const problems: string[] = [];
    const changes = [...instructionsOf(tree.root), LESSONS_PATH].flatMap((path) => {
      try {
        return changeOf(tree.root, path, decided);
      } catch (error) {
        problems.push(problemOf(path, error));
        return [];
      }
    });
    return { ...none, accepted: decided.accepted.length, proposed: decided.proposed.length, changes, problems };
  } catch (error) {
    return { ...none, problems: [(error as Error).message] };
  }
}

const problemOf = (path: string, error: unknown) =>
  error instanceof DamagedBlockError
    ? `${path}:${error.line}: ${error.message}`
    : `${path}: ${(error as Error).message}`;

/** The instruction files that get the block: those that exist; else the one that the repository's agents will look for. */
function instructionsOf(root: string): string[] {
  const standing = INSTRUCTIONS.filter((path) => lstatSync(join(root, path), { throwIfNoEntry: false })?.isFile());
  if (standing.length === 0) return [isOwnPath(join(root, ".claude")) ? "CLAUDE.md" : "AGENTS.md"];
  const claude = standing.length > 1 ? readInside(root, "CLAUDE.md", MAX_FILE_BYTES)?.toString("latin1") : undefined;
  // Claude Code reads AGENTS.md as well when it is named so: one block is enough.
  return claude && /^@(?:\.\/)?AGENTS\.md\s*$/m.test(claude) ? ["AGENTS.md"] : standing;
}

function changeOf(root: string, path: string, decided: Decided): FileChange[] {
  const before = textOf(root, path);
  const after = path === LESSONS_PATH ? lessonsAfter(before, decided) : instructionsAfter(before, decided);
  return before === after ? [] : [{ path: join(root, path), before, after }];
}

/** @returns null where there is none @throws Error when it is no file to be written */
function textOf(root: string, path: string): string | null {
  if (!lstatSync(join(root, path), { throwIfNoEntry: false })) return null;
  const bytes = readInside(root, path, MAX_FILE_BYTES + 1);
  if (!bytes) throw new Error("is no file of its own");
  if (bytes.length > MAX_FILE_BYTES) throw new Error("is too large");
  return bytes.toString("latin1");
}

function lessonsAfter(before: string | null, decided: Decided): string | null {
  if (before !== null && !isLessonsFile(before)) throw new Error("was written by somebody else");
  return Buffer.from(lessonsFile(decided)).toString("latin1") || null;
}

function instructionsAfter(before: string | null, decided: Decided): string | null {
  // A byte order mark of UTF-16: our block would not be text there.
  if (/^(?:\xff\xfe|\xfe\xff)/.test(before ?? "")) throw new Error("is not UTF-8");
  const standing = blockLines(before ?? "");
  const lines = blockOf(decided, standing ?? []);
  if (lines.length > 0) return withBlock(before ?? "", lines);
  return before === null || standing === undefined ? before : withoutBlock(before) || null;
}

/** What the errors of a repository teach: those of the work tree and those that the server knows of. */
async function lessonsOf(capture: Capture, repo: string, tree: Tree): Promise<Lesson[]> {
  const confirmed = await confirmedClasses(capture, repo);
  const local = localClasses(capture, repo, tree, confirmed);
  const { recurringClasses } = await fetchJson(capture, "/api/brain/metrics?", repo);
  for (const { fingerprint, occurrences, lastSeen, titles, rule } of asObjects(recurringClasses)) {
    const digits = asText(fingerprint) ?? "";
    const last = asText(lastSeen) ?? "";
    if (!WIRE_FINGERPRINT.test(digits) || !isDate(last)) continue;
    const own = local.get(digits);
    local.set(digits, {
      fingerprint: digits,
      title: own?.title ?? asText((titles as unknown[] | undefined)?.[0]) ?? "",
      rule: own?.rule ?? asText(rule) ?? null,
      occurrences: Math.max(own?.occurrences ?? 0, asCount(occurrences)),
      lastSeen: own && own.lastSeen > last ? own.lastSeen : last,
      confirmed: confirmed.has(digits),
      sessions: own?.sessions ?? 0,
    });
  }
  return [...local.values()];
}

/** First digits of the classes of which a person confirmed a cause. */
async function confirmedClasses(capture: Capture, repo: string): Promise<ReadonlySet<string>> {
  const confirmed = new Set<string>();
  let after: string | undefined;
  for (let page = 0; page === 0 || (after !== undefined && page < MAX_PAGES); page++) {
    const from = after === undefined ? "" : `&after=${encodeURIComponent(after)}`;
    const { links, next } = await fetchJson(capture, `/api/causal-link?limit=200${from}`, repo);
    for (const { fingerprint, verdict, origin } of asObjects(links))
      if (verdict === "confirmed" || (origin === "person" && verdict !== "rejected"))
        confirmed.add(String(fingerprint));
    after = asText(next);
  }
  return confirmed;
}

async function fetchJson(capture: Capture, path: string, repo: string): Promise<Fields> {
  const credentials = readCredentials(capture.places);
  if (!credentials) throw new Error(NOT_CONNECTED);
  const joint = path.endsWith("?") ? "" : "&";
  const answer = await ask(credentials.url, `${path}${joint}repoKey=${encodeURIComponent(repo)}`, {
    token: credentials.token,
  });
  // Without the whole picture lessons would be taken away that still hold.
  if (answer.kind !== "ok") throw new Error(`the server was not heard: ${answer.reason}`);
  return answer.body;
}

/** The classes of a work tree's errors files by their first 8 digits; a class is named by its newest entry. */
function localClasses(
  { rows, clock }: Capture,
  repo: string,
  tree: Tree,
  confirmed: ReadonlySet<string>,
): Map<string, Lesson> {
  const edited = rows.recentSessions
    .all(clock.now() - RECENT_MS)
    .filter((row) => row.repo === repo)
    .map((row) => new Set((JSON.parse(row.head) as SessionHead).files));
  const classes = new Map<string, Lesson>();
  const touched = new Map<string, Set<number>>();
  for (const { fingerprint, title, rule, date, files } of readEntries(tree)?.entries ?? []) {
    const digits = onWire(fingerprint);
    const known = classes.get(digits);
    const sessions = touched.getOrInsert(digits, new Set());
    for (const [i, paths] of edited.entries()) if (files.some((file) => paths.has(file))) sessions.add(i);
    const isNewer = !known || date > known.lastSeen;
    classes.set(digits, {
      fingerprint: digits,
      title: isNewer ? title : known.title,
      rule: isNewer ? rule : known.rule,
      occurrences: (known?.occurrences ?? 0) + 1,
      lastSeen: isNewer ? date : known.lastSeen,
      confirmed: confirmed.has(digits),
      sessions: sessions.size,
    });
  }
  return classes;
}

/** Writes what was planned, each file whole or not at all. @returns what was left as it is, and why */
function write(capture: Capture, { root, changes }: NightlyResult): string[] {
  const before = readWritten(capture);
  // Noted before writing: nobody takes a block out of a file that is not noted.
  writeWritten(capture, new Set([...before, ...changes.map(({ path }) => path)]));
  const written = new Set(before);
  const problems = changes.flatMap((change) => {
    try {
      writeChange(root, change);
      if (change.after === null) written.delete(change.path);
      else written.add(change.path);
      return [];
    } catch (error) {
      return [problemOf(change.path, error)];
    }
  });
  writeWritten(capture, written);
  return problems;
}

/** @throws Error when the file was changed meanwhile, or lies behind a link */
function writeChange(root: string, { path, before, after }: FileChange): void {
  if (textOf(root, path.slice(root.length + 1)) !== before) throw new Error("was changed meanwhile");
  if (after === null) {
    rmSync(path);
    return;
  }
  mkdirSync(dirname(path), { recursive: true });
  if (!isOwnPath(dirname(path))) throw new Error("lies behind a link");
  const mode = before === null ? 0o644 : lstatSync(path).mode & 0o777;
  writeFileAtomically(path, Buffer.from(after, "latin1"), before !== null, mode);
}

/**
 * Takes what this machine wrote out of instruction files and brains. What another machine wrote and git brought here stays.
 * @returns what was left as it is, and why
 */
export function removeManagedBlocks(capture: Capture): string[] {
  const problems: string[] = [];
  const left = readWritten(capture).filter((path) => {
    try {
      const root = path.endsWith(`/${LESSONS_PATH}`) ? path.slice(0, -LESSONS_PATH.length - 1) : dirname(path);
      const before = textOf(root, path.slice(root.length + 1));
      const isLessons = before !== null && isLessonsFile(before);
      if (before === null) return false;
      const after = isLessons ? null : withoutBlock(before) || null;
      if (after !== before) writeChange(root, { path, before, after });
      return false;
    } catch (error) {
      problems.push(problemOf(path, error));
      return true;
    }
  });
  writeWritten(capture, left);
  return problems;
}
