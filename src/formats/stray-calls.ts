import { firstWhere } from "../kit/first-where.ts";
import { each, type Slices } from "../kit/slices.ts";
import type { Usage } from "./usage.ts";

/** A time span in milliseconds since the epoch, as far as it is known. */
export interface Timed {
  readonly startedAt?: number | null;
  readonly endedAt?: number | null;
}

interface Tokens {
  readonly context: number;
  readonly output: number;
}

/**
 * A span whose parent was not sent, with the usage that counts at or below it, without sums of agents: the number of spans, and their
 * tokens.
 */
export interface Stray extends Timed {
  /** The parent's id. */
  readonly missing: string;
  readonly used: Tokens & { readonly count: number };
}

/** A sum that has nothing below it. */
export interface Sum<T> {
  readonly span: T;
  /** The parent, not sent, of its topmost known ancestor or of itself; null when that has no parent. */
  readonly missing: string | null;
}

/**
 * Of sums with nothing below them, those of stray calls: the spans between came in a request of their own, and are not recorded. A sum is
 * taken for that of the strays that began in its time when these have as much output as it says, or more: then it holds no call that is not
 * counted. Half of the input is enough: an input may be reported without what was cached, which shows in the sum but not in a single call
 * whose input is larger. Strays that miss the same parent as the sum stand beside it and are not its calls. Sums that miss the same parent
 * are not below each other, so a stray is part of one of them only.
 */
export function* sumsOf<T extends Timed & { readonly usage: Usage | null }>(
  sums: readonly Sum<T>[],
  strays: readonly Stray[],
): Slices<readonly T[]> {
  if (sums.length === 0) return [];
  const usedBy = yield* timeline(strays);
  const beside = new Map<string | null, { sums: Claim<T>[]; strays: Stray[] }>();
  yield* each(sums, ({ span, missing }) => {
    const { usage, startedAt, endedAt } = span;
    if (typeof startedAt !== "number" || typeof endedAt !== "number") return;
    const group = beside.getOrInsertComputed(missing, () => ({ sums: [], strays: [] }));
    group.sums.push({ span, from: startedAt, to: endedAt, context: usage?.context ?? 0, output: usage?.output ?? 0 });
  });
  yield* each(strays, (stray) => beside.get(stray.missing)?.strays.push(stray));
  const found: T[] = [];
  for (const group of beside.values()) {
    // Most groups are small, and there may be as many as sums.
    yield;
    const notBelow = yield* timeline(group.strays);
    const below = (from: number, to: number): Tokens => less(usedBy(from, to), notBelow(from, to));
    const mayBe: Claim<T>[] = [];
    yield* each(group.sums, (sum) => {
      if (covers(below(sum.from, sum.to), sum)) mayBe.push(sum);
    });
    mayBe.sort((a, b) => b.to - a.to);
    yield* each(apart(mayBe), ({ from, sums }) => {
      let claimed: Tokens = { context: 0, output: 0 };
      for (const sum of sums.reverse()) {
        const together = { context: claimed.context + sum.context, output: claimed.output + sum.output };
        if (!covers(below(from, sum.to), together)) continue;
        claimed = together;
        found.push(sum.span);
      }
    });
  }
  return found;
}

interface Claim<T> extends Tokens {
  readonly span: T;
  readonly from: number;
  readonly to: number;
}

const less = (all: Tokens, some: Tokens): Tokens => ({
  context: all.context - some.context,
  output: all.output - some.output,
});

/** Whether strays cover a sum. Without any usage they cover none, not even one of nothing. */
const covers = (used: Tokens, says: Tokens): boolean =>
  (used.context > 0 || used.output > 0) && 2 * used.context >= says.context && used.output >= says.output;

/** Sums in groups whose times do not overlap. @param sums the last to end first, as they are within each group */
function apart<T>(sums: readonly Claim<T>[]): { from: number; sums: Claim<T>[] }[] {
  const groups: { from: number; sums: Claim<T>[] }[] = [];
  for (const sum of sums) {
    const group = groups.at(-1);
    if (group && sum.to >= group.from) {
      group.sums.push(sum);
      group.from = Math.min(group.from, sum.from);
    } else groups.push({ from: sum.from, sums: [sum] });
  }
  return groups;
}

/** Makes a function that gives the usage of strays that began between two instants, both included. */
function* timeline(strays: readonly Stray[]): Slices<(from: number, to: number) => Tokens> {
  const begun = new Map<number, Tokens>();
  yield* each(strays, ({ startedAt, endedAt, used }) => {
    const at = startedAt ?? endedAt;
    if (at === null || at === undefined || used.count === 0) return;
    const then = begun.get(at);
    begun.set(at, { context: used.context + (then?.context ?? 0), output: used.output + (then?.output ?? 0) });
  });
  const instants = new Float64Array(begun.size);
  let filled = 0;
  yield* each(begun.keys(), (at) => {
    instants[filled++] = at;
  });
  instants.sort();
  /** The usage of strays that began before each of the instants, and last that of all. */
  const before: Tokens[] = [{ context: 0, output: 0 }];
  yield* each(instants, (at) => {
    const [sum, then] = [before.at(-1), begun.get(at)];
    if (sum && then) before.push({ context: sum.context + then.context, output: sum.output + then.output });
  });
  const none = { context: 0, output: 0 };
  return (from, to) => less(before[countBelow(instants, to + 1)] ?? none, before[countBelow(instants, from)] ?? none);
}

/** How many of ascending numbers are below a bound. */
const countBelow = (numbers: Float64Array, bound: number): number =>
  firstWhere(numbers.length, (place) => (numbers[place - 1] ?? bound) >= bound) - 1;
