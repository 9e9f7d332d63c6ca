import type { Role } from "./roles.ts";

/** Pure: which sessions an entry is put down to, from what was found of them. */

export const CONFIDENCES = ["strong", "probable", "weak"] as const;
export type Confidence = (typeof CONFIDENCES)[number];

export interface Maker {
  readonly sessionId: number;
  /** As the session told it; may be longer or shorter than the text's. */
  readonly sha: string;
  readonly at: number | null;
}

/** A commit that an entry names. */
export interface NamedCommit {
  readonly named: string;
  readonly role: Role;
  /** Sessions that made it; none when nobody did, or when the name fits several commits. */
  readonly makers: readonly Maker[];
}

/** What is known of an entry and the sessions it may be put down to. */
export interface Case {
  readonly commits: readonly NamedCommit[];
  /** How many of the files that the entry names can be one of the repository's. */
  readonly files: number;
  /** Sessions of the 30 days before that touched some of them, with which. */
  readonly touches: ReadonlyMap<number, ReadonlySet<string>>;
  /** Sessions that ran on the entry's day; asked for only where nothing else points anywhere. */
  readonly onDay: () => readonly number[];
  /** Sessions of which somebody said that they did not cause it. */
  readonly rejected: ReadonlySet<number>;
  /** When a session ended; 0 when that isn't known. */
  readonly endOf: (sessionId: number) => number;
}

/** What led to a session: a commit it made, files it touched, or nothing but the date. */
export interface Finding {
  readonly sessionId: number;
  readonly band: Confidence;
  readonly commit: NamedCommit | undefined;
  readonly files: readonly string[];
}

/** Candidates that are kept of an entry with no better link. */
export const MAX_CANDIDATES = 5;

/** A session that touched all named files is a probable cause if every other one touched no more than this share of them. */
const MAX_OF_ANOTHER = 1 / 3;

/** The links of an entry: strong ones, or one that is probable, or the best candidates; none when nothing points anywhere. */
export function judge(known: Case): Finding[] {
  const strong = strongOf(known);
  if (strong.length > 0) return strong;
  const probable = probableOf(known);
  return probable ? [probable] : candidatesOf(known);
}

const filesOf = ({ touches }: Case, sessionId: number): string[] => [...(touches.get(sessionId) ?? [])].sort();

function findingOf(known: Case, sessionId: number, band: Confidence, commit?: NamedCommit): Finding {
  return { sessionId, band, commit, files: filesOf(known, sessionId) };
}

const withRole = ({ commits }: Case, role: Role) => commits.filter((commit) => commit.role === role);
const makersOf = (commits: readonly NamedCommit[]) =>
  new Set(commits.flatMap((commit) => commit.makers.map((maker) => maker.sessionId)));

/** Commits that may be the cause: those that the text calls so, else those of which it says nothing. */
function suspects(known: Case): NamedCommit[] {
  const causes = withRole(known, "cause");
  return causes.length > 0 ? causes : withRole(known, "unmarked");
}

/**
 * A commit that one session made. Where the text doesn't say which of several commits broke it, all must be that session's:
 * one of them may be the remedy.
 */
function strongOf(known: Case): Finding[] {
  const suspected = suspects(known);
  const said = suspected[0]?.role === "cause";
  const makers = makersOf(suspected);
  if (!said && (makers.size !== 1 || suspected.some((commit) => commit.makers.length === 0))) return [];
  const found = new Map<number, Finding>();
  for (const commit of suspected) {
    const [only, ...others] = commit.makers;
    if (!only || others.length > 0 || known.rejected.has(only.sessionId) || found.has(only.sessionId)) continue;
    found.set(only.sessionId, findingOf(known, only.sessionId, "strong", commit));
  }
  return [...found.values()];
}

/**
 * The one session that touched all the named files, when no other touched more than a third of them. Where commits point to
 * some sessions, it is one of these; where the text calls a commit the cause that no session made, there is none.
 */
function probableOf(known: Case): Finding | undefined {
  const suspected = suspects(known);
  const pool = makersOf(suspected);
  if (known.files === 0 || (suspected[0]?.role === "cause" && pool.size === 0)) return undefined;
  const mended = makersOf(withRole(known, "fix"));
  const others = [...known.touches].filter(
    ([id]) => !known.rejected.has(id) && (pool.size > 0 ? pool.has(id) : !mended.has(id)),
  );
  const all = others.filter(([, files]) => files.size === known.files);
  const [only] = all;
  if (all.length !== 1 || !only) return undefined;
  if (others.some(([id, files]) => id !== only[0] && files.size > known.files * MAX_OF_ANOTHER)) return undefined;
  const commit = suspected.find((one) => one.makers.some((maker) => maker.sessionId === only[0]));
  return findingOf(known, only[0], "probable", commit);
}

/** Sessions that may have to do with it: by a commit, else by files, else by the date alone. */
function candidatesOf(known: Case): Finding[] {
  const commits = [...suspects(known), ...withRole(known, "unclear")];
  const mended = makersOf(withRole(known, "fix"));
  const pool = makersOf(commits);
  const open = (ids: Iterable<number>) => [...ids].filter((id) => !known.rejected.has(id));
  const byFile = [...known.touches.keys()].filter((id) => !pool.has(id));
  const share = (id: number) => known.touches.get(id)?.size ?? 0;
  const rank = (ids: readonly number[]) =>
    ids.toSorted(
      (a, b) =>
        Number(mended.has(a)) - Number(mended.has(b)) ||
        share(b) - share(a) ||
        known.endOf(b) - known.endOf(a) ||
        b - a,
    );
  const ranked = [...rank(open(pool)), ...rank(open(byFile))];
  return (ranked.length > 0 ? ranked : rank(open(known.onDay()))).slice(0, MAX_CANDIDATES).map((id) =>
    findingOf(
      known,
      id,
      "weak",
      commits.find((commit) => commit.makers.some((maker) => maker.sessionId === id)),
    ),
  );
}
