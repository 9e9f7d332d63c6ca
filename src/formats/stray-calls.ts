import { firstWhere } from "../kit/first-where.ts";
import { each, type Slices } from "../kit/slices.ts";
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
 * A sum is taken for that of the strays that began in its time where these put out as much as it says, or more: then it tells of none
 * that is not counted. Of what went in, half is enough: where an input is told without what was cached, a single call whose input is larger
 * than that does not show it, and the sum does.
 */
export function* sumsOf<T extends Timed & { readonly usage: Usage | null }>(
  sums: readonly T[],
  strays: readonly Stray[],
): Slices<readonly T[]> {
  const found: T[] = [];
  if (sums.length === 0) return found;
  const begun = new Map<number, { context: number; output: number }>();
  yield* each(strays, ({ startedAt, endedAt, count, context, output }) => {
    const at = startedAt ?? endedAt;
    if (at === null || at === undefined || count === 0) return;
    const then = begun.get(at);
    begun.set(at, { context: context + (then?.context ?? 0), output: output + (then?.output ?? 0) });
  });
  const instants = new Float64Array(begun.size);
  let filled = 0;
  yield* each(begun.keys(), (at) => {
    instants[filled++] = at;
  });
  instants.sort();
  /** What the strays used that began before each of the instants, and before the end. */
  const before = [{ context: 0, output: 0 }];
  yield* each(instants, (at) => {
    const [sum, then] = [before.at(-1), begun.get(at)];
    if (sum && then) before.push({ context: sum.context + then.context, output: sum.output + then.output });
  });
  yield* each(sums, (sum) => {
    const { usage, startedAt, endedAt } = sum;
    if (typeof startedAt !== "number" || typeof endedAt !== "number") return;
    const [from, to] = [countBelow(instants, startedAt), countBelow(instants, endedAt + 1)];
    const [first, last] = [before[from], before[to]];
    if (!first || !last || to <= from) return;
    const context = last.context - first.context;
    const output = last.output - first.output;
    if (2 * context >= (usage?.context ?? 0) && output >= (usage?.output ?? 0)) found.push(sum);
  });
  return found;
}

/** How many of ascending numbers are below a bound. */
const countBelow = (numbers: Float64Array, bound: number): number =>
  firstWhere(numbers.length, (place) => (numbers[place - 1] ?? bound) >= bound) - 1;
