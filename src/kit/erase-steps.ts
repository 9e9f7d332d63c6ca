/**
 * Erasing in small steps: a generator hands out row changes, each for a transaction of its own, and is asked for the next once
 * that is stored. All steps can be done again: what was erased before is not found any more.
 */

/** Row changes of one transaction. @returns the number of erased rows, by name */
export type EraseStep = () => Readonly<Record<string, number>>;
export type EraseSteps = Iterable<EraseStep> | AsyncIterable<EraseStep>;

/** Rows that one transaction erases at most. */
export const MAX_ERASED_ROWS = 1_000;

/** Repeats a change that removes as much as one transaction may, until nothing is left. @param remove returns how many rows it removed */
export function* whileAny(name: string, remove: () => number): Generator<EraseStep> {
  let removed = 1;
  while (removed > 0)
    yield () => {
      removed = remove();
      return { [name]: removed };
    };
}

/** One change of a bounded number of rows. */
export function* once(name: string, change: () => number): Generator<EraseStep> {
  yield () => ({ [name]: change() });
}

/** Milliseconds after which a transaction takes no further step. It has at least one step. */
const TRANSACTION_MS = 5;

/** Packs small steps into few transactions, since each transaction waits for the disk. @returns what `steps` returns */
export function* inFew<T>(steps: Iterator<EraseStep, T>): Generator<EraseStep, T> {
  for (let end: IteratorReturnResult<T> | undefined; ; ) {
    yield () => {
      const counts: Record<string, number> = {};
      const began = performance.now();
      do {
        const next = steps.next();
        if (next.done) {
          end = next;
          break;
        }
        for (const [name, count] of Object.entries(next.value())) counts[name] = (counts[name] ?? 0) + count;
      } while (performance.now() - began < TRANSACTION_MS);
      return counts;
    };
    if (end) return end.value;
  }
}

/**
 * Runs independent works side by side: the next steps of all share few transactions.
 * @param works each is asked for its next step once its last one is stored
 */
export async function* together(works: readonly AsyncIterator<EraseStep>[]): AsyncGenerator<EraseStep> {
  for (let left = works; left.length > 0; ) {
    const answers = await Promise.all(left.map(async (work) => ({ work, next: await work.next() })));
    const going = answers.flatMap(({ work, next }) => (next.done ? [] : [{ work, step: next.value }]));
    yield* inFew(going.map(({ step }) => step).values());
    left = going.map(({ work }) => work);
  }
}

/** Rows in portions that one transaction may remove. */
export function* portions<T>(list: readonly T[], size = MAX_ERASED_ROWS): Generator<readonly T[]> {
  for (let from = 0; from < list.length; from += size) yield list.slice(from, from + size);
}

/** A range of rows in the order of a key. The reader decides which of the two ends it includes. */
export interface Stretch<Key> {
  readonly from: Key;
  /** Where the next range begins; null for all rows up to the end. */
  readonly to: Key | null;
}

/**
 * Divides all rows in the order of a key into ranges short enough for others to wait for.
 * @param first key at which the first range begins
 * @param endOf where the range ends that begins at a key; undefined for the last
 */
export function* stretches<Key>(first: Key, endOf: (from: Key) => Key | undefined): Generator<Stretch<Key>> {
  for (let from: Key | null = first; from !== null; ) {
    const to: Key | null = endOf(from) ?? null;
    yield { from, to };
    from = to;
  }
}
