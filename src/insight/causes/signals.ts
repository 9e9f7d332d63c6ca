import type { Core } from "../../core.ts";
import type { Prompt } from "../../formats/session.ts";
import { readFile } from "../../record/brain/brain.ts";
import type { Defect } from "../defects/defects.ts";
import { evidenceRows, type TouchRow, type WindowRow } from "./evidence-rows.ts";
import type { Case, Maker, NamedCommit } from "./judge.ts";
import { isSameFile, nameOf, normalisePath } from "./paths.ts";
import { promptsOf } from "./prompts.ts";
import { rolesOf } from "./roles.ts";
import { dayOf, overlaps, reachOf, type Span, startsFor } from "./window.ts";

/** The last edit of a file by a session. */
export interface LastEdit {
  readonly path: string;
  readonly spanId: string;
  readonly at: number | null;
}

/**
 * What entries of one repository are compared with. Everything is read once and kept for the run, as a thousand entries name
 * the same few files and sessions.
 */
export interface Scene {
  readonly caseOf: (defect: Defect, rejected: ReadonlySet<number>) => Case;
  readonly windowOf: (sessionId: number) => WindowRow | undefined;
  readonly promptsOf: (sessionId: number) => readonly Prompt[];
  readonly lastEditsOf: (sessionId: number) => readonly LastEdit[];
}

/** Sessions found by the date alone. */
const MAX_ON_DAY = 20;

export function openScene(core: Core, teamId: string, repoKey: string): Scene {
  const sql = evidenceRows(core.store);
  const windowOf = kept((id: number) => sql.window.get(id));
  const named = kept((name: string) => sql.touches.all(teamId, repoKey, name));
  const ends = new Map<number, number>();
  const touchesOf = kept((path: string) => {
    const found = named(nameOf(path)).filter((row) => isSameFile(path, row.path));
    for (const { sessionId, endedAt } of found) ends.set(sessionId, endedAt ?? 0);
    return found;
  });
  const textOf = readTexts(core, teamId, repoKey);
  const onDayOf = kept((date: string) => sessionsOn(core, teamId, repoKey, dayOf(date)));
  return {
    windowOf,
    promptsOf: kept((id: number) => promptsOf(core, id)),
    lastEditsOf: kept((id: number) => sql.lastEdits.all(id)),
    caseOf: (defect, rejected) => ({
      commits: namedCommits(core, { teamId, repoKey }, defect, textOf),
      ...touched(defect, touchesOf),
      onDay: () => onDayOf(defect.date),
      rejected,
      endOf: (id) => ends.get(id) ?? windowOf(id)?.endedAt ?? 0,
    }),
  };
}

function kept<Key, Value>(read: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, Value>();
  return (key) => {
    let value = known.get(key);
    if (value === undefined) {
      value = read(key);
      known.set(key, value);
    }
    return value;
  };
}

/** Reads what entries say: a function that gives an entry's text, reading each file once. */
export function readTexts(core: Core, teamId: string, repoKey: string): (defect: Defect) => string {
  const linesOf = kept((path: string) => readFile(core, teamId, repoKey, path)?.content.split(/\r\n|[\r\n]/) ?? []);
  return ({ path, line }) => bodyFrom(linesOf(path), line);
}

function sessionsOn(core: Core, teamId: string, repoKey: string, day: Span): number[] {
  const { from, to } = startsFor(day);
  const found: number[] = [];
  for (const window of evidenceRows(core.store).windowsOn.iterate(teamId, repoKey, from, to)) {
    if (overlaps(window, day)) found.push(window.sessionId);
    if (found.length >= MAX_ON_DAY) break;
  }
  return found;
}

/** Digits by which commits are looked up: git's shortest. */
const LOOK_UP = 7;

/** The commits that an entry names, what it says of them, and who made them. */
function namedCommits(
  core: Core,
  { teamId, repoKey }: { readonly teamId: string; readonly repoKey: string },
  defect: Defect,
  textOf: (defect: Defect) => string,
): NamedCommit[] {
  const { commits, date } = defect;
  if (commits.length === 0) return [];
  const roles = rolesOf(textOf(defect), commits);
  const reach = reachOf(date);
  return commits.map((named) => {
    const prefix = named.slice(0, LOOK_UP);
    const made = evidenceRows(core.store)
      .makers.all(teamId, prefix, `${prefix}g`)
      .filter(({ sha }) => sha.startsWith(named) || named.startsWith(sha))
      // A session that named no repository may have worked in this one.
      .filter((maker) => maker.repoKey === repoKey || maker.repoKey === "")
      .filter((maker) => maker.startedAt === null || overlaps(maker, reach));
    const role = roles.get(named) ?? "unmarked";
    const late = made.length > 0 && made.every(({ at }) => at !== null && at > reach.to);
    // What came after the entry was written cannot be what it tells of.
    return { named, role: role !== "cause" && late ? "fix" : role, makers: isOneCommit(made) ? distinct(made) : [] };
  });
}

/** Whether shas can all be of one commit: each is the beginning of the longest. */
function isOneCommit(made: readonly Maker[]): boolean {
  const longest = made.reduce((most, { sha }) => (sha.length > most.length ? sha : most), "");
  return made.every(({ sha }) => longest.startsWith(sha));
}

function distinct(made: readonly Maker[]): Maker[] {
  return [...new Map(made.map(({ sessionId, sha, at }) => [sessionId, { sessionId, sha, at }])).values()];
}

/** An entry's text: from its heading to the next heading of its level or above. @param line of the heading, 1-based */
export function bodyFrom(lines: readonly string[], line: number): string {
  const next = lines.findIndex((text, i) => i >= line && /^ {0,3}#{1,2}(?:\s|$)/.test(text));
  return lines.slice(line - 1, next === -1 ? undefined : next).join("\n");
}

/** Which sessions touched which of the files that an entry names. */
function touched(
  { files, path, date }: Defect,
  touchesOf: (path: string) => readonly TouchRow[],
): Pick<Case, "files" | "touches"> {
  const reach = reachOf(date);
  const touches = new Map<number, Set<string>>();
  const counted = new Set<string>();
  for (const written of files) {
    const named = normalisePath(written);
    if (named === undefined || counted.has(named) || isSameFile(named, path) || isBrain(named)) continue;
    const found = touchesOf(named);
    for (const row of found) {
      if (!overlaps(row, reach)) continue;
      const own = touches.get(row.sessionId) ?? new Set();
      touches.set(row.sessionId, own.add(named));
    }
    // A bare word that no session ever touched is more likely no file at all: `Promise.all`.
    if (found.length > 0 || named.includes("/")) counted.add(named);
  }
  return { files: counted.size, touches };
}

/** Notes about the code are edited with everything. */
const isBrain = (path: string) => /(?:^|\/)\.claude\/brain\//.test(path);
