/**
 * The first check of a place where a form's mark stands. The longest part of the form that is of one kind of character must have only such
 * characters there. One other character refuses every start around it at once, as in Boyer and Moore's search, so that rows of marks cost a
 * comparison each.
 */
import { BEYOND, type Kind } from "./pattern.ts";
import type { Reading } from "./reading.ts";
import type { Shape } from "./shape.ts";

export class Gate {
  readonly #fewest: number;
  readonly #from: number;
  readonly #to: number;
  readonly #kind: Kind;
  #reading = 0;
  /** Between these places no match starts. */
  #deadFrom = 0;
  #deadTo = 0;
  /** Between these places all characters are of the kind. */
  #goodFrom = 0;
  #goodTo = 0;

  constructor({ fewest, run }: Shape) {
    this.#fewest = fewest;
    this.#from = run.from;
    this.#to = run.to;
    this.#kind = run.kind;
  }

  /** Whether no match starts at a place. Asked roughly from first to last, it examines each character once. */
  refuses(reading: Reading, start: number): boolean {
    if (reading.id !== this.#reading) this.#begin(reading);
    else if (start >= this.#deadFrom && start < this.#deadTo) return true;
    const { text, units } = reading;
    if (text.length - start < this.#fewest) return true;
    const from = start + this.#from;
    const to = start + this.#to;
    const isKnown = from >= this.#goodFrom && from <= this.#goodTo;
    const stop = isKnown ? Math.max(from, this.#goodTo) : from;
    let i = to - 1;
    const kind = this.#kind;
    while (i >= stop && kind[Math.min(units[i] as number, BEYOND)] === 1) i--;
    reading.work += to - i;
    if (i < stop) {
      if (!isKnown) this.#goodFrom = from;
      this.#goodTo = isKnown ? Math.max(to, this.#goodTo) : to;
      return false;
    }
    this.#goodFrom = i + 1;
    this.#goodTo = to;
    this.#deadFrom = start;
    this.#deadTo = i - this.#from + 1;
    return true;
  }

  /** Notes that no match starts from `start`, which was not refused, up to `until`. */
  refuseUntil(start: number, until: number): void {
    this.#deadFrom = start;
    this.#deadTo = until;
  }

  #begin(reading: Reading): void {
    this.#reading = reading.id;
    this.#deadTo = 0;
    this.#goodFrom = 0;
    this.#goodTo = 0;
  }
}
