import type { Usage } from "./usage.ts";

/** When something was, in milliseconds since the epoch, as far as it is told. */
export interface Timed {
  readonly startedAt?: number | null;
  readonly endedAt?: number | null;
}

/** A span whose own parent nobody told of: what counts at or below it, of how many spans, and their tokens. */
export interface Stray extends Timed {
  readonly count: number;
  readonly context: number;
  readonly output: number;
}

/**
 * Of sums that have nothing below them, those of stray calls: what stood between them came in a request of its own, and is not recorded.
 * A sum is taken for that of the strays that began in its time where these used as much as it says, or more: then it tells of none
 * that is not counted.
 */
export function sumsOf<T extends Timed & { readonly usage: Usage | null }>(
  sums: readonly T[],
  strays: readonly Stray[],
): readonly T[] {
  const begun = strays
    .flatMap(({ startedAt, endedAt, ...stray }) => ({ at: startedAt ?? endedAt ?? Number.NaN, ...stray }))
    .filter(({ at, count }) => count > 0 && !Number.isNaN(at))
    .sort((a, b) => a.at - b.at);
  const upTo = [{ context: 0, output: 0 }];
  for (const [i, { context, output }] of begun.entries()) {
    const before = upTo[i] as { context: number; output: number };
    upTo.push({ context: before.context + context, output: before.output + output });
  }
  /** How many began before an instant. */
  const before = (at: number): number => {
    let [low, high] = [0, begun.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((begun[middle]?.at ?? at) < at) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return sums.filter(({ usage, startedAt, endedAt }) => {
    if (startedAt == null || endedAt == null) return false;
    const [from, to] = [before(startedAt), before(endedAt + 1)];
    const [first, last] = [upTo[from], upTo[to]];
    if (!first || !last || to <= from) return false;
    return last.context - first.context >= (usage?.context ?? 0) && last.output - first.output >= (usage?.output ?? 0);
  });
}
