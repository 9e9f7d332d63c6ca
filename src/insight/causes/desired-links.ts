import { isoInstant } from "../../kit/clock.ts";
import type { Defect } from "../defects/defects.ts";
import type { WindowRow } from "./evidence-rows.ts";
import { type Case, type Finding, judge } from "./judge.ts";
import type { LinkRow } from "./link-rows.ts";
import { isSameFile } from "./paths.ts";
import { excerptOf, promptAt } from "./prompts.ts";
import type { LastEdit, Signals } from "./signals.ts";

/** In: the signals of an entry and what `judge` finds in them. Out: the links it ought to have, with their reasons in words. */

/** A computed link as it ought to stand. */
export type DesiredLink = Pick<LinkRow, "band" | "sessionId" | "commit" | "promptExcerpt" | "evidence">;

/** One reason for a link, in a sentence for a person and in members for a program. */
export interface Reason {
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

/** The links that an entry ought to have, the best first. @param rejected sessions that somebody ruled out */
export function desiredLinks(signals: Signals, defect: Defect, rejected: ReadonlySet<number>): DesiredLink[] {
  const known = signals.caseOf(defect, rejected);
  return judge(known).map((finding) => {
    const { sessionId, band, commit, files } = finding;
    const edits = files.length === 0 ? [] : signals.lastEditsOf(sessionId);
    const maker = commit?.makers.find((candidate) => candidate.sessionId === sessionId);
    const prompts = signals.promptsOf(sessionId);
    const prompt = promptAt(prompts, maker?.at ?? lastEditAt(files, edits)) ?? prompts[0];
    const reasons = [
      ...explainCommits(known, finding),
      ...explainFiles(known, finding, edits),
      ...explainTime(signals.windowOf(sessionId)),
    ];
    return {
      band,
      sessionId,
      commit: commit ? longer(commit.named, maker?.sha) : null,
      promptExcerpt: excerptOf(prompt?.text),
      evidence: JSON.stringify(reasons),
    };
  });
}

const longer = (named: string, made: string | undefined): string =>
  made !== undefined && made.length > named.length ? made : named;

/** The last edit of a file that the entry names so. */
function lastEditOf(edits: readonly LastEdit[], named: string): LastEdit | undefined {
  return edits
    .filter((edit) => isSameFile(named, edit.path))
    .reduce<LastEdit | undefined>((last, edit) => ((edit.at ?? 0) > (last?.at ?? -1) ? edit : last), undefined);
}

/** When the session last edited one of the named files. */
function lastEditAt(files: readonly string[], edits: readonly LastEdit[]): number | null {
  const instants = files.map((file) => lastEditOf(edits, file)?.at ?? null).filter((at) => at !== null);
  return instants.length === 0 ? null : Math.max(...instants);
}

const NAMED_AS = {
  cause: (commit: string) => `The entry calls commit ${commit} the cause`,
  unclear: (commit: string) => `The entry names commit ${commit}, as cause or remedy`,
  fix: (commit: string) => `The entry names commit ${commit}`,
  unmarked: (commit: string) => `The entry names commit ${commit}`,
} as const;

function explainCommits(known: Case, { commit, sessionId }: Finding): Reason[] {
  const fix = known.commits.find(
    ({ role, makers }) => role === "fix" && makers.some((maker) => maker.sessionId === sessionId),
  );
  const reasons: Reason[] = [];
  if (commit) {
    const others = commit.makers.length - 1;
    const made = others > 0 ? `this session and ${others} more made it` : "this session made it";
    const maker = commit.makers.find((candidate) => candidate.sessionId === sessionId);
    reasons.push({
      kind: "commit",
      commit: longer(commit.named, maker?.sha),
      ...(maker?.at == null ? {} : { at: isoInstant(maker.at) }),
      says: `${NAMED_AS[commit.role](commit.named)}; ${made}.`,
    });
  }
  if (fix && fix !== commit)
    reasons.push({
      kind: "commit",
      commit: fix.named,
      says: `The session made commit ${fix.named}, which the entry calls the fix.`,
    });
  return reasons;
}

function explainFiles(known: Case, { files, sessionId }: Finding, edits: readonly LastEdit[]): Reason[] {
  const others = [...known.touches].filter(([id]) => id !== sessionId);
  return files.slice(0, MAX_FILES).map((path): Reason => {
    const also = others.filter(([, touched]) => touched.has(path)).length;
    const alone =
      also === 0
        ? "no other session of the 30 days before did"
        : `so did ${also} more ${also === 1 ? "session" : "sessions"} of the 30 days before`;
    const last = lastEditOf(edits, path);
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

function explainTime(window: WindowRow | undefined): Reason[] {
  if (window?.startedAt == null || window.endedAt === null) return [];
  const startedAt = isoInstant(window.startedAt);
  const endedAt = isoInstant(window.endedAt);
  const minute = (at: string) => `${at.slice(0, 10)} ${at.slice(11, 16)}`;
  const explanation = `The session ran from ${minute(startedAt)} to ${minute(endedAt)} UTC.`;
  return [{ kind: "time", startedAt, endedAt, says: explanation }];
}
