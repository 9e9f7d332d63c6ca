import { FIGURES, type Figures, type Place } from "./told.ts";

/** A telling of one usage as it is kept: of one source, in one place. */
export interface Candidate {
  /** The trace session that told it; 0 for telemetry. */
  readonly source: number;
  readonly place: Place | null;
  /** How often it was told; the figures are the sums of all times. */
  readonly times: number;
  readonly figures: Figures;
}

/** The part of a change that concerns one usage. */
export type Change =
  /** An entry told it. Entries are never withdrawn. */
  | { readonly kind: "entry"; readonly told: Candidate }
  /** A session was read anew: what it told before is void. */
  | { readonly kind: "session"; readonly source: number; readonly told: readonly Candidate[] };

/** Sums end here rather than where integers lose their precision; only made-up figures come so far. */
const MOST = Number.MAX_SAFE_INTEGER;

export function addFigures(a: Figures, b: Figures, sign: 1 | -1 = 1): Figures {
  const sum: Record<string, number> = {};
  for (const name of FIGURES) sum[name] = Math.max(-MOST, Math.min(MOST, a[name] + sign * b[name]));
  return sum as unknown as Figures;
}

const samePlace = (a: Place | null, b: Place | null): boolean =>
  a === b ||
  (a !== null &&
    b !== null &&
    a.day === b.day &&
    a.repoKey === b.repoKey &&
    a.branch === b.branch &&
    a.model === b.model &&
    a.deviceId === b.deviceId &&
    a.session === b.session &&
    a.context === b.context);

/** Whether two candidates are the same row, whatever they count. */
export const sameRow = (a: Candidate, b: Candidate): boolean => a.source === b.source && samePlace(a.place, b.place);

/** What is known of one usage after a change. */
export function applyChange<C extends Candidate>(
  held: readonly C[],
  change: Change,
  isMessage: boolean,
): (C | Candidate)[] {
  const others = change.kind === "session" ? held.filter((one) => one.source !== change.source) : [...held];
  const all: (C | Candidate)[] = others;
  for (const told of change.kind === "session" ? change.told : [change.told]) {
    const rival = all.findIndex((one) => (isMessage ? one.source === told.source : sameRow(one, told)));
    const before = all[rival];
    if (!before) all.push(told);
    else if (isMessage) all[rival] = outranks(told, before) ? told : before;
    else if (told.place !== null)
      all[rival] = {
        ...told,
        times: before.times + told.times,
        figures: addFigures(before.figures, told.figures),
      };
  }
  return all;
}

/**
 * Which of the candidates are counted. Of a message the one with the largest output; without an id, what telemetry or the
 * session told, whichever told it more often.
 */
export function countedOf<C extends Candidate>(candidates: readonly C[], isMessage: boolean): Set<C> {
  if (isMessage) {
    const best = candidates.reduce<C | undefined>(
      (most, one) => (!most || outranks(one, most) ? one : most),
      undefined,
    );
    return new Set(best ? [best] : []);
  }
  const entries = candidates.filter(({ source }) => source === 0);
  const sessions = candidates.filter(({ source }) => source !== 0);
  const times = (of: readonly C[]) => of.reduce((sum, one) => sum + one.times, 0);
  return new Set(times(entries) >= times(sessions) ? entries : sessions);
}

/** An order among tellings of a message that does not depend on which came first: larger, then better informed, then earlier. */
function outranks(a: Candidate, b: Candidate): boolean {
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
