/**
 * A cache of answers that were computed from some days. An answer is kept as long as none of its days changes, so repeated questions about
 * a long record are computed anew only for the days that changed.
 */

/** Days that share one answer: enough that few answers are added up, and few enough that a change recomputes little. */
const STRETCH = 8;
/** Days whose last change is remembered. Beyond that number, all days are taken for changed. */
const MAX_DAYS = 20_000;

/** A first and a last day, both included. */
export type Days = readonly [first: number, last: number];

/**
 * The stretch of days that a day is kept with: aligned, so that other questions find the same one, and within the days asked for.
 * @param cuts first days from which something else holds; a stretch does not cross them
 * @param days length of a whole stretch: fewer where the sums of two days have little in common, so that adding them up saves nothing
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
  /** The number of changes when it was computed. */
  readonly at: number;
}

export class KeptByDay<T> {
  readonly #maxSize: number;
  readonly #sizeOf: (value: T) => number;
  /** Least recently used first. */
  readonly #kept = new Map<string, Kept<T>>();
  #size = 0;
  /** The number of changes at each day's last one, by owner and day. */
  readonly #changed = new Map<string, number>();
  #changes = 0;
  #outside = 0;

  /** @param maxSize of all answers together @param sizeOf the size of one, in the same unit */
  constructor(maxSize: number, sizeOf: (value: T) => number) {
    this.#maxSize = maxSize;
    this.#sizeOf = sizeOf;
  }

  /** Grows with every change. */
  get changes(): number {
    return this.#changes;
  }

  /** Notes that something of a day changed. @param of the owner of the day, e.g. a team */
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
   * The answer for some days: the kept one, or else computed now.
   * @param outside a number that changes when another process may have changed any day
   * @param of the owner of the days
   * @param name tells the question from all others about these days
   */
  get(outside: number, of: string, [first, last]: Days, name: string, compute: () => T): T {
    if (outside !== this.#outside) this.changeAll();
    this.#outside = outside;
    const key = JSON.stringify([of, first, last, name]);
    const found = this.#kept.get(key);
    if (found) this.#drop(key, found);
    const fresh = found && this.#isUnchanged(found.at, of, first, last) ? found : this.#make(compute);
    // An answer above a tenth of the whole would leave no room for others.
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
