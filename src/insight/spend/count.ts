import { FIGURES, type Figures, type Place, sameSession } from "./usage-record.ts";

/** A telling of one usage as it is kept: of one source, in one place. */
export interface Candidate {
  /** The trace session that told it; 0 for telemetry; below 0 see `witnessesOf`. */
  readonly source: number;
  readonly place: Place | null;
  /** How often it was told. */
  readonly times: number;
  /** Of one time. */
  readonly figures: Figures;
}

/** The part of a change that concerns one usage. */
export type Change =
  /** An entry told it. Entries are never withdrawn. */
  | { readonly kind: "entry"; readonly told: Candidate }
  /** A session was read anew: what it told before is void. */
  | { readonly kind: "session"; readonly source: number; readonly told: readonly Candidate[] };

/** Sums end here rather than where integers lose their precision; only made-up figures come so far. */
const MAX = Number.MAX_SAFE_INTEGER;

/** `a` with `b` added so many times. */
export function addFigures(a: Figures, b: Figures, times = 1): Figures {
  const sum: Record<string, number> = {};
  for (const name of FIGURES) sum[name] = Math.max(-MAX, Math.min(MAX, a[name] + times * b[name]));
  return sum as unknown as Figures;
}

export const samePlace = (a: Place | null, b: Place | null): boolean =>
  a === b ||
  (a !== null &&
    b !== null &&
    sameSession(a, b) &&
    a.day === b.day &&
    a.repoKey === b.repoKey &&
    a.branch === b.branch &&
    a.model === b.model &&
    a.context === b.context);

/** Whether two candidates are the same row, whatever they count. */
export const sameRow = (a: Candidate, b: Candidate): boolean => a.source === b.source && samePlace(a.place, b.place);

/** What is known of one usage after a change. Of a message, each source's best telling in each session is kept. */
export function applyChange<C extends Candidate>(
  held: readonly C[],
  change: Change,
  isMessage: boolean,
): (C | Candidate)[] {
  const others = change.kind === "session" ? held.filter((one) => one.source !== change.source) : [...held];
  const all: (C | Candidate)[] = others;
  for (const told of change.kind === "session" ? change.told : [change.told]) {
    const rival = all.findIndex((one) =>
      isMessage
        ? one.source === told.source && sameSession(one.place as Place, told.place as Place)
        : sameRow(one, told),
    );
    const before = all[rival];
    if (!before) all.push(told);
    else if (isMessage) all[rival] = outranks(told, before) ? told : before;
    else if (told.place !== null) all[rival] = { ...before, times: before.times + told.times };
  }
  return all;
}

/** Which of a message's candidates is counted: the one with the largest output. */
export function bestOf<C extends Candidate>(candidates: readonly C[]): C | undefined {
  return candidates.reduce<C | undefined>((most, one) => (!most || outranks(one, most) ? one : most), undefined);
}

/** Which of a session's own accounts are counted: none while its entries tell for themselves. */
export function ownCounted<C extends Candidate>(candidates: readonly C[]): readonly C[] {
  return candidates.some(({ place }) => place === null) ? [] : candidates;
}

/** An order among tellings that does not depend on which came first: larger, then better informed, then earlier. */
export function outranks(a: Candidate, b: Candidate): boolean {
  const [of, than] = [rank(a), rank(b)];
  for (const [i, mine] of of.entries()) {
    const other = than[i] as string | number;
    if (mine !== other) return mine > other;
  }
  return false;
}

function rank({ source, place, figures }: Candidate): (string | number)[] {
  const { input, output, cacheWrite, cacheWrite1h, cacheRead, reported, reportedNano } = figures;
  const told = place as Place;
  return [
    output,
    input + cacheWrite + cacheWrite1h + cacheRead,
    cacheWrite1h,
    cacheRead,
    cacheWrite,
    reported,
    reportedNano,
    told.model === "" ? 0 : 1,
    told.branch === "" ? 0 : 1,
    -told.day,
    source === 0 ? 1 : 0,
    told.repoKey,
    told.deviceId,
    told.session,
    told.branch,
    told.model,
    told.context,
  ];
}
