import { isoInstant } from "../../kit/clock.ts";
import type { WindowRow } from "./evidence-rows.ts";
import type { Case, Finding } from "./judge.ts";
import { isSameFile } from "./paths.ts";
import type { LastEdit } from "./signals.ts";

/** One reason for a link, in a sentence for a person and in members for a program. */
export interface Evidence {
  readonly kind: "commit" | "file" | "edit" | "time" | "person";
  readonly says: string;
  readonly commit?: string;
  readonly path?: string;
  readonly spanId?: string;
  /** RFC 3339. */
  readonly at?: string;
  readonly startedAt?: string;
  readonly endedAt?: string;
}

/** Files that are named one by one. */
const MAX_FILES = 10;

/** Puts into words why an entry was put down to a session. */
export function sayWhy(
  known: Case,
  finding: Finding,
  window: WindowRow | undefined,
  edits: readonly LastEdit[],
): Evidence[] {
  return [...sayCommit(known, finding), ...sayFiles(known, finding, edits), ...sayTime(window)];
}

function sayCommit(known: Case, { commit, sessionId }: Finding): Evidence[] {
  const mended = known.commits.find(
    (one) => one.role === "fix" && one.makers.some((maker) => maker.sessionId === sessionId),
  );
  const evidence: Evidence[] = [];
  if (commit) {
    const others = commit.makers.length - 1;
    const named =
      commit.role === "cause"
        ? `The entry calls commit ${commit.named} the cause`
        : commit.role === "unclear"
          ? `The entry names commit ${commit.named}, as cause or remedy`
          : `The entry names commit ${commit.named}`;
    const made = others > 0 ? `this session and ${others} more made it` : "this session made it";
    const maker = commit.makers.find((one) => one.sessionId === sessionId);
    evidence.push({
      kind: "commit",
      commit: longer(commit.named, maker?.sha),
      ...(maker?.at == null ? {} : { at: isoInstant(maker.at) }),
      says: `${named}; ${made}.`,
    });
  }
  if (mended && mended !== commit)
    evidence.push({
      kind: "commit",
      commit: mended.named,
      says: `The session made commit ${mended.named}, which the entry calls the fix.`,
    });
  return evidence;
}

export const longer = (named: string, made: string | undefined): string =>
  made !== undefined && made.length > named.length ? made : named;

function sayFiles(known: Case, { files, sessionId }: Finding, edits: readonly LastEdit[]): Evidence[] {
  const others = [...known.touches].filter(([id]) => id !== sessionId);
  return files.slice(0, MAX_FILES).map((path): Evidence => {
    const also = others.filter(([, touched]) => touched.has(path)).length;
    const alone =
      also === 0
        ? "no other session of the 30 days before did"
        : `so did ${also} more ${also === 1 ? "session" : "sessions"} of the 30 days before`;
    const last = lastOf(edits, path);
    if (!last) return { kind: "file", path, says: `The session touched ${path}, which the entry names; ${alone}.` };
    return {
      kind: "edit",
      path,
      spanId: last.spanId,
      ...(last.at === null ? {} : { at: isoInstant(last.at) }),
      says: `The session edited ${path}, which the entry names; ${alone}.`,
    };
  });
}

/** The last edit of a file that the entry names so. */
export function lastOf(edits: readonly LastEdit[], named: string): LastEdit | undefined {
  return edits
    .filter((edit) => isSameFile(named, edit.path))
    .reduce<LastEdit | undefined>((last, edit) => ((edit.at ?? 0) > (last?.at ?? -1) ? edit : last), undefined);
}

function sayTime(window: WindowRow | undefined): Evidence[] {
  if (window?.startedAt == null || window.endedAt === null) return [];
  const startedAt = isoInstant(window.startedAt);
  const endedAt = isoInstant(window.endedAt);
  const words = (at: string) => `${at.slice(0, 10)} ${at.slice(11, 16)}`;
  return [
    {
      kind: "time",
      startedAt,
      endedAt,
      says: `The session ran from ${words(startedAt)} to ${words(endedAt)} UTC.`,
    },
  ];
}
