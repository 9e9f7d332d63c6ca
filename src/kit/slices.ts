/**
 * Long work as a generator of short pieces: at each yield others may have their turn. Its return value is the result. `finish` runs it in
 * one go; `inSlices` lets others in between.
 */
export type Slices<T> = Generator<undefined, T, undefined>;

/** Runs work through in one go. */
export function finish<T>(work: Slices<T>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/** Runs work through and lets others in at its yields, when their turn is due. @param yieldNow as `kit/yield.ts` makes it */
export async function inSlices<T>(work: Slices<T>, yieldNow: () => Promise<void> | undefined): Promise<T> {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    const wait = yieldNow();
    if (wait) await wait;
  }
}

/** Items between two yields: about a millisecond's work. */
const PORTION = 500;

/** Calls `look` for each item of a list that may be long. */
export function* each<T>(list: Iterable<T>, look: (item: T) => void): Slices<void> {
  let left = PORTION;
  for (const item of list) {
    look(item);
    if (--left > 0) continue;
    left = PORTION;
    yield;
  }
}

/** Puts a list that may be long in order, as `toSorted` does. */
export function* sorted<T>(list: readonly T[], compare: (a: T, b: T) => number): Slices<readonly T[]> {
  if (list.length <= PORTION) return list.toSorted(compare);
  const middle = list.length >>> 1;
  const [first, second] = [yield* sorted(list.slice(0, middle), compare), yield* sorted(list.slice(middle), compare)];
  const all: T[] = [];
  for (let [i, k] = [0, 0]; i < first.length || k < second.length; ) {
    const isFirst = k === second.length || (i < first.length && compare(first[i] as T, second[k] as T) <= 0);
    all.push((isFirst ? first[i++] : second[k++]) as T);
    if (all.length % PORTION === 0) yield;
  }
  return all;
}
