/**
 * Places worth a look that stand closer than in any text that people or their programs write. A text can be made of nothing
 * else, and judging each takes hundreds of nanoseconds: from some number of them on what follows is covered, and only some are judged,
 * to see whether it goes on.
 *
 * What a place counts depends on what stands next to it alone, and counting begins anew behind the marker of an earlier redaction. So a
 * redacted text, which has fewer of them, is not covered where the text was not.
 */
import type { Probe, Reading } from "./reading.ts";
import { anyOf, nextOf } from "./units.ts";

/** What may be examined for each character of room; room is counted so, in whole numbers. */
export const CHARACTER = 3;
/** The room that a look takes at least and at most. */
const FEWEST = 4 * CHARACTER;
const MOST = 32 * CHARACTER;
/** How much may be lacking; the most were 653 characters in 1.3 GB of texts and program text, in a dictionary. */
const PATIENCE = 2_048 * CHARACTER;
/** Of those under a cover one of so many is judged, and counts for all of them. */
const SAMPLE = 23;
/** How far the room lacking falls under a cover until it ends, and rises at most. */
const SLACK = 512 * CHARACTER;
/** As far behind a place as a value begins that is given to what stands there. */
const REACH = 128;
/** Part of a cover that is told by itself, as no finding is told later than so far behind its start. */
const PART = 8_192;

/** No value that begins before one of these goes on behind it. */
const ENDS = anyOf(
  Array.from("\t\n\v\f\r \"'`\u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff", (sign) => sign.charCodeAt(0)),
);

export const CROWD_RULE = "crowded-secrets";

/** The room that a look takes from what stands around it. @param work see `Reading.work` @param isFinding whether something was found */
export const roomOf = (work: number, isFinding: boolean): number => (isFinding ? MOST : Math.min(MOST, FEWEST + work));

/** Where a cover begins that is none: behind the end of every text. */
const NOWHERE = (1 << 30) - 1;

/** What is known of one text. */
export class Crowd {
  /** The room that those so far lack, and up to where that was counted. */
  #lacking = 0;
  #countedTo = 0;
  /** Where the cover begins that is open, the last place it was asked for, and up to where nothing ends it but a gap or a marker. */
  #from = NOWHERE;
  #lastAt = 0;
  #sureTo = 0;
  /** How many places it is until one is judged. */
  #untilSample = SAMPLE;
  /** The last place of each of those that look further than `REACH`. */
  #far: Map<Probe, number> | undefined;

  /** Whether a place is under the cover that is open; asked before anything else, since it is asked of thousands. */
  covers(reading: Reading, at: number, probe: Probe): boolean {
    // Places come roughly from first to last: one may stand before the cover.
    if (at < this.#from || probe.reach === undefined) return false;
    const isSure = at <= this.#sureTo && at <= this.#lastAt + REACH && reading.markerTo <= this.#countedTo;
    if (!isSure && !this.#goesOn(reading, at)) return false;
    if (at > this.#lastAt) this.#lastAt = at;
    if (probe.reach === "far") this.#reachesFar(at, probe);
    this.#untilSample--;
    if (this.#untilSample > 0) return true;
    this.#untilSample = SAMPLE;
    return false;
  }

  /** Whether the cover that is open goes on to a place; otherwise it is closed. */
  #goesOn(reading: Reading, at: number): boolean {
    this.#count(reading, at, 0);
    if (at > this.#lastAt + REACH || this.#lacking < PATIENCE - SLACK) {
      this.close(reading);
      return false;
    }
    if (at - this.#from > PART) {
      this.#tell(reading, at);
      this.#from = at - 1;
    }
    this.#reckonSure();
    return true;
  }

  #reckonSure(): void {
    const lasts = Math.floor((this.#lacking - (PATIENCE - SLACK)) / CHARACTER);
    this.#sureTo = Math.min(this.#from + PART, this.#countedTo + lasts);
  }

  /** Whether a cover begins at a place that would be judged otherwise. */
  opens(reading: Reading, at: number, probe: Probe): boolean {
    if (this.#lacking < PATIENCE || this.#from !== NOWHERE || probe.reach === undefined) return false;
    this.#count(reading, at, 0);
    if (this.#lacking < PATIENCE || at < reading.markerTo) return false;
    this.#from = at;
    this.#lastAt = at;
    this.#reckonSure();
    if (probe.reach === "far") this.#reachesFar(at, probe);
    return true;
  }

  /** Told of a place that was judged. @param room what it has to itself */
  took(reading: Reading, at: number, room: number): void {
    const isUnder = at >= this.#from;
    this.#count(reading, at, isUnder ? room * SAMPLE : room);
    if (!isUnder) return;
    this.#lacking = Math.min(this.#lacking, PATIENCE + SLACK);
    this.#reckonSure();
  }

  /** Ends a cover that nothing before a place prolongs: it must be told before what comes later is. */
  closeBefore(reading: Reading | undefined, at: number): void {
    if (reading !== undefined && at > this.#lastAt + REACH) this.close(reading);
  }

  /** Ends a cover, at the text's end or before something that stands apart. */
  close(reading: Reading): void {
    if (this.#from === NOWHERE) return;
    const end = nextOf(ENDS, reading.text, Math.min(this.#lastAt + REACH, reading.text.length));
    this.#tell(reading, end);
    this.#from = NOWHERE;
    this.#lacking = 0;
    this.#countedTo = Math.max(end, this.#countedTo);
    const far = this.#far;
    this.#far = undefined;
    for (const [probe, at] of far ?? []) probe.find(reading, at);
  }

  #reachesFar(at: number, probe: Probe): void {
    this.#far ??= new Map();
    this.#far.set(probe, at);
  }

  #tell(reading: Reading, end: number): void {
    reading.candidates.push({ rule: CROWD_RULE, strength: "likely", start: this.#from, end });
  }

  #count(reading: Reading, at: number, room: number): void {
    if (reading.markerTo > this.#countedTo) {
      this.#lacking = 0;
      this.#countedTo = reading.markerTo;
    }
    if (at < reading.markerTo) return;
    // What a cover was asked for meanwhile was passed, too.
    const to = Math.max(at, this.#lastAt);
    if (to > this.#countedTo) {
      this.#lacking = Math.max(0, this.#lacking - (to - this.#countedTo) * CHARACTER);
      this.#countedTo = to;
    }
    this.#lacking += room;
  }
}
