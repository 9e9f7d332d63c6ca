import type { Core } from "../../core.ts";
import type { Prompt } from "../../formats/session.ts";
import { readFile } from "../../record/brain/brain.ts";
import { sessionTwins } from "../../record/traces/traces.ts";
import type { Defect } from "../defects/defects.ts";
import { evidenceRows, type LatestCommit, type MakerRow, type TouchRow, type WindowRow } from "./evidence-rows.ts";
import type { Case, Maker, NamedCommit } from "./judge.ts";
import { isSameFile, nameOf, normalisePath } from "./paths.ts";
import { promptsOf } from "./prompts.ts";
import { rolesOf } from "./roles.ts";
import { dayOf, type Interval, overlaps, reachOf, startsFor } from "./window.ts";

/** In: an entry, its text, and what sessions of its repository told. Out: the case that `judge` decides. */

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
export interface Signals {
  readonly caseOf: (defect: Defect, rejected: ReadonlySet<number>) => Case;
  readonly windowOf: (sessionId: number) => WindowRow | undefined;
  readonly promptsOf: (sessionId: number) => readonly Prompt[];
  readonly lastEditsOf: (sessionId: number) => readonly LastEdit[];
}

/** Sessions found by the date alone. */
const MAX_ON_DAY = 20;

export function openSignals(core: Core, teamId: string, repoKey: string): Signals {
  const sql = evidenceRows(core.store);
  const windowOf = memoized((id: number) => sql.window.get(id));
  const touchesByName = memoized((name: string) => sql.touches.all(teamId, repoKey, name));
  const ends = new Map<number, number>();
  const touchesOf = memoized((path: string) => {
    const touches = touchesByName(nameOf(path)).filter((row) => isSameFile(path, row.path));
    for (const { sessionId, endedAt } of touches) ends.set(sessionId, endedAt ?? 0);
    return touches;
  });
  const textOf = textReader(core, teamId, repoKey);
  const onDayOf = memoized((date: string) => sessionsWithin(core, teamId, repoKey, dayOf(date)));
  return {
    windowOf,
    promptsOf: memoized((id: number) => promptsOf(core, id)),
    lastEditsOf: memoized((id: number) => sql.lastEdits.all(id)),
    caseOf: (defect, rejected) => ({
      commits: namedCommits(core, teamId, defect, textOf),
      ...touchedFiles(defect, touchesOf),
      onDay: () => onDayOf(defect.date),
      rejected,
      endOf: (id) => ends.get(id) ?? windowOf(id)?.endedAt ?? 0,
    }),
  };
}

function memoized<Key, Value>(read: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, Value>();
  return (key) => known.getOrInsertComputed(key, read);
}

/** A function that gives an entry's text, reading each file once. */
export function textReader(core: Core, teamId: string, repoKey: string): (defect: Defect) => string {
  const linesOf = memoized((path: string) => readFile(core, teamId, repoKey, path)?.content.split(/\r\n|[\r\n]/) ?? []);
  return ({ path, line }) => bodyFrom(linesOf(path), line);
}

/** An entry's text: from its heading to the next heading of its level or above. @param line of the heading, 1-based */
export function bodyFrom(lines: readonly string[], line: number): string {
  let end = line;
  while (end < lines.length && !/^ {0,3}#{1,2}(?:\s|$)/.test(lines[end] as string)) end++;
  return lines.slice(line - 1, end).join("\n");
}

function sessionsWithin(core: Core, teamId: string, repoKey: string, day: Interval): number[] {
  const { from, to } = startsFor(day);
  const sessions: number[] = [];
  for (const window of evidenceRows(core.store).windowsOn.iterate(teamId, repoKey, from, to)) {
    if (overlaps(window, day)) sessions.push(window.sessionId);
    if (sessions.length >= MAX_ON_DAY) break;
  }
  return sessions;
}

/** The commits that an entry names, what it says of them, and who made them. */
function namedCommits(core: Core, teamId: string, defect: Defect, textOf: (defect: Defect) => string): NamedCommit[] {
  const { commits, date, repoKey } = defect;
  if (commits.length === 0) return [];
  const roles = rolesOf(textOf(defect), commits);
  const reach = reachOf(date);
  return commits.map((named) => {
    const makers = makersOf(core, teamId, named)
      // A session that named no repository may have worked in this one.
      .filter((maker) => maker.repoKey === repoKey || maker.repoKey === "")
      .filter((maker) => maker.startedAt === null || overlaps(maker, reach));
    const role = roles.get(named) ?? "unmarked";
    const late = makers.length > 0 && makers.every(({ at }) => at !== null && at > reach.to);
    // What came after the entry was written cannot be what it tells of.
    return {
      named,
      role: role !== "cause" && late ? "fix" : role,
      makers: isOneCommit(makers) ? distinct(makers) : [],
    };
  });
}

/** Digits by which commits are looked up: git's shortest. */
const PREFIX_DIGITS = 7;

/** Sessions looked at for a repository's latest commits. */
const MAX_MAKERS = 200;

/** The latest commits of a repository's newest sessions. */
export const latestCommits = (core: Core, teamId: string, repoKey: string, most: number): LatestCommit[] =>
  evidenceRows(core.store).latestCommits.all({ teamId, repoKey, sessions: MAX_MAKERS, most });

/** Sessions that made a commit. Either side may know more of its digits. @param sha 7 to 64 hexadecimal digits, lower case */
export function makersOf(core: Core, teamId: string, sha: string): MakerRow[] {
  const prefix = sha.slice(0, PREFIX_DIGITS);
  const made = evidenceRows(core.store)
    .makers.all(teamId, prefix, `${prefix}g`)
    .filter((maker) => isSameCommit(maker.sha, sha));
  // Told of by two devices, a session is one maker.
  return sessionTwins.listed(core, made, ({ sessionId }) => sessionId);
}

export const isSameCommit = (a: string, b: string): boolean => a.startsWith(b) || b.startsWith(a);

/** Whether shas can all be of one commit: each is the beginning of the longest. */
function isOneCommit(makers: readonly Maker[]): boolean {
  const longest = makers.reduce((most, { sha }) => (sha.length > most.length ? sha : most), "");
  return makers.every(({ sha }) => longest.startsWith(sha));
}

function distinct(makers: readonly Maker[]): Maker[] {
  return [...new Map(makers.map(({ sessionId, sha, at }) => [sessionId, { sessionId, sha, at }])).values()];
}

/** Which sessions touched which of the files that an entry names. */
function touchedFiles(
  { files, path, date }: Defect,
  touchesOf: (path: string) => readonly TouchRow[],
): Pick<Case, "files" | "touches"> {
  const reach = reachOf(date);
  const touches = new Map<number, Set<string>>();
  const counted = new Set<string>();
  for (const written of files) {
    const named = normalisePath(written);
    if (named === undefined || counted.has(named) || isSameFile(named, path) || isBrain(named)) continue;
    const touchRows = touchesOf(named);
    for (const row of touchRows) {
      if (!overlaps(row, reach)) continue;
      touches.getOrInsert(row.sessionId, new Set()).add(named);
    }
    // A bare word that no session ever touched is probably no file, such as `Promise.all`.
    if (touchRows.length > 0 || named.includes("/")) counted.add(named);
  }
  return { files: counted.size, touches };
}

/** Whether a path is a note about the code: those are edited together with everything. */
const isBrain = (path: string) => /(?:^|\/)\.claude\/brain\//.test(path);
