/**
 * Findings that stand closer than in any text that people or their programs write. A text can be made of nothing else, and
 * judging each takes hundreds of nanoseconds: from some number of them on what follows is covered, and not judged.
 */
import { anyOf, nextOf } from "./units.ts";

/** Characters a finding has to itself; the closest rows seen in 144 MB of texts and program text had 57. */
const ROOM = 32;
/** So many findings may stand closer. */
const PATIENCE = 64;
/** As far behind a place as a value begins that is given to what stands there. */
const REACH = 128;
/** Part of a cover that is told by itself, as no finding is told later than so far behind its start. */
const PART = 8_192;

/** No value that begins before one of these goes on behind it. */
const ENDS = anyOf(
  Array.from("\t\n\v\f\r \"'`\u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff", (sign) => sign.charCodeAt(0)),
);

export const CROWD_RULE = "crowded-secrets";

/** What is read, and what was found in it. */
interface Read {
  readonly text: string;
  readonly candidates: { push(found: { rule: string; strength: "likely"; start: number; end: number }): number };
}

/** What is known of one text. */
export class Crowd<R extends Read> {
  /** How many characters of room the findings so far lack, and up to where that was counted. */
  #lacking = 0;
  #countedTo = 0;
  /** Where the cover begins that is open, or -1, and the last place it was asked for. */
  #from = -1;
  #lastAt = 0;
  /** The last place of each of those that look further than `REACH`. */
  #far: Map<(reading: R, at: number) => void, number> | undefined;

  /** Whether a place is covered rather than looked at. @param look what is done otherwise @param isFar whether it looks further than `REACH` */
  covers(reading: R, at: number, look: (reading: R, at: number) => void, isFar: boolean): boolean {
    if (this.#from !== -1 && at > this.#lastAt + REACH) this.close(reading);
    if (this.#from === -1 && this.#lacking < PATIENCE * ROOM) return false;
    this.#count(at);
    if (this.#from === -1) {
      if (this.#lacking < PATIENCE * ROOM) return false;
      this.#from = at;
    } else if (at - this.#from > PART) {
      this.#tell(reading, at);
      this.#from = at - 1;
    }
    this.#lastAt = Math.max(at, this.#lastAt);
    if (isFar) {
      this.#far ??= new Map();
      this.#far.set(look, at);
    }
    return true;
  }

  /** Told of each finding. */
  found(at: number): void {
    this.#count(at);
  }

  /** Ends a cover, at the text's end or before something that stands apart. */
  close(reading: R): void {
    if (this.#from === -1) return;
    this.#tell(reading, nextOf(ENDS, reading.text, Math.min(this.#lastAt + REACH, reading.text.length)));
    this.#from = -1;
    this.#lacking = Math.max(0, this.#lacking - REACH);
    const far = this.#far;
    this.#far = undefined;
    for (const [look, at] of far ?? []) look(reading, at);
  }

  #tell(reading: R, end: number): void {
    reading.candidates.push({ rule: CROWD_RULE, strength: "likely", start: this.#from, end });
  }

  #count(at: number): void {
    this.#lacking = Math.max(0, this.#lacking + ROOM - Math.max(0, at - this.#countedTo));
    this.#countedTo = Math.max(at, this.#countedTo);
  }
}
