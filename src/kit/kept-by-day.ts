/**
 * Answers that were computed from some days, kept as long as nothing changed in any of them: what is asked again and again of a long
 * record is then computed anew only for the days that something came for.
 */

/** Days (since the epoch) that are kept as one, so that few are put together and little is computed anew. */
const STRETCH = 8;
/** Days of which it is remembered when they changed; beyond that, everything is taken for changed. */
const MAX_DAYS = 20_000;

/** A first and a last day, both included. */
export type Days = readonly [first: number, last: number];

/**
 * The stretch that a day is kept with: as far as what is asked for reaches, so that other questions find the same.
 * @param cuts first days from which something else holds
 * @param days of a whole stretch: fewer where the sums of two days have little in common, so that putting them together saves nothing
 */
export function stretchOf(day: number, [first, last]: Days, cuts: readonly number[] = [], days = STRETCH): Days {
  const begin = Math.floor(day / days) * days;
  let from = Math.max(first, begin);
  let to = Math.min(last, begin + days - 1);
  for (const cut of cuts)
    if (cut <= day) from = Math.max(from, cut);
    else to = Math.min(to, cut - 1);
  return [from, to];
}

interface Kept<T> {
  readonly value: T;
  readonly size: number;
  /** How much had changed when it was computed. */
  readonly at: number;
}

export class KeptByDay<T> {
  readonly #maxSize: number;
  readonly #sizeOf: (value: T) => number;
  /** In the order in which they were asked for. */
  readonly #kept = new Map<string, Kept<T>>();
  #size = 0;
  /** When each day changed last, by whose it is. */
  readonly #changed = new Map<string, number>();
  #changes = 0;
  #outside = 0;

  /** @param maxSize of all that is kept together @param sizeOf how much of it one value is */
  constructor(maxSize: number, sizeOf: (value: T) => number) {
    this.#maxSize = maxSize;
    this.#sizeOf = sizeOf;
  }

  /** Grows with every change. */
  get changes(): number {
    return this.#changes;
  }

  /** Says that something of a day changed. @param of whose day it is, e.g. a team's */
  change(of: string, day: number): void {
    if (this.#changed.size >= MAX_DAYS) this.changeAll();
    this.#changed.set(`${of} ${day}`, ++this.#changes);
  }

  changeAll(): void {
    this.#changes++;
    this.#changed.clear();
    this.#kept.clear();
    this.#size = 0;
  }

  /**
   * What was computed of some days, or else is now.
   * @param outside changes when somebody else may have changed any day
   * @param of whose days they are
   * @param name tells the question from all others that are asked of these days
   */
  get(outside: number, of: string, [first, last]: Days, name: string, compute: () => T): T {
    if (outside !== this.#outside) this.changeAll();
    this.#outside = outside;
    const key = JSON.stringify([of, first, last, name]);
    const found = this.#kept.get(key);
    if (found) this.#drop(key, found);
    const fresh = found && this.#isUnchanged(found.at, of, first, last) ? found : this.#make(compute);
    // What alone is more than a tenth of all would leave no room for others.
    if (fresh.size <= this.#maxSize / 10) {
      this.#kept.set(key, fresh);
      this.#size += fresh.size;
    }
    for (const [oldest, one] of this.#kept) {
      if (this.#size <= this.#maxSize) break;
      this.#drop(oldest, one);
    }
    return fresh.value;
  }

  #make(compute: () => T): Kept<T> {
    const at = this.#changes;
    const value = compute();
    return { value, size: this.#sizeOf(value), at };
  }

  #drop(key: string, { size }: Kept<T>): void {
    this.#kept.delete(key);
    this.#size -= size;
  }

  #isUnchanged(at: number, of: string, first: number, last: number): boolean {
    for (let day = first; day <= last; day++) if ((this.#changed.get(`${of} ${day}`) ?? 0) > at) return false;
    return true;
  }
}
