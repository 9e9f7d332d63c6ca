/**
 * A crowd is a row of candidate places that stand closer together than in any text that people or their programs write. A text can be made
 * of nothing else, and judging each place takes hundreds of nanoseconds. So from some number of places on, what follows is covered: it is
 * replaced as a whole, and only some places are judged, to see whether the crowd goes on.
 *
 * What a place counts depends only on what stands next to it, and counting begins anew after the marker of an earlier redaction. So a
 * redacted text, which has fewer such places, is not covered where the original was not.
 */
import type { Probe, Reading } from "./reading.ts";
import { anyOf, nextOf } from "./units.ts";

/** Units of work for each character of room. Room is counted in these units, so that it is a whole number. */
export const CHARACTER = 3;
/** The room that a look takes at least and at most. */
const FEWEST = 4 * CHARACTER;
const MOST = 32 * CHARACTER;
/** How much room may be lacking before a cover opens; the most were 653 characters in 1.3 GB of texts and program text, in a dictionary. */
const PATIENCE = 2_048 * CHARACTER;
/** Under a cover one place of so many is judged, and counts for all of them. */
const SAMPLE = 23;
/** How far the lacking room has to fall for a cover to end, and how far it rises under one at most. */
const SLACK = 512 * CHARACTER;
/** How far after a place the value given to it may begin. */
const REACH = 128;
/** Length of a part of a cover that is reported as one finding: no finding may be reported later than so far after its start. */
const PART = 8_192;

/** Characters that end every value. */
const ENDS = anyOf(
  Array.from("\t\n\v\f\r \"'`\u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff", (sign) => sign.charCodeAt(0)),
);

export const CROWD_RULE = "crowded-secrets";

/** The room that a look takes from what stands around it. @param work see `Reading.work` @param isFinding whether something was found */
export const roomOf = (work: number, isFinding: boolean): number => (isFinding ? MOST : Math.min(MOST, FEWEST + work));

/** Stands for no cover: behind the end of every text. */
const NOWHERE = (1 << 30) - 1;

/** What is known of one text. */
export class Crowd {
  /** The room that is lacking so far, and the place up to which that was counted. */
  #lacking = 0;
  #countedTo = 0;
  /** Where the open cover begins, the last place it was asked about, and the place up to which only a gap or a marker ends it. */
  #from = NOWHERE;
  #lastAt = 0;
  #sureTo = 0;
  /** Places until the next one is judged. */
  #untilSample = SAMPLE;
  /** The last place of each probe that reaches further than `REACH`. */
  #far: Map<Probe, number> | undefined;

  /** Whether a place is under the open cover. Asked before anything else, since a crowd has thousands of places. */
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

  /** Whether the open cover goes on to a place; otherwise it is closed. */
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

  /** Counts a place that was judged. @param room see `Probe.room` */
  took(reading: Reading, at: number, room: number): void {
    const isUnder = at >= this.#from;
    this.#count(reading, at, isUnder ? room * SAMPLE : room);
    if (!isUnder) return;
    this.#lacking = Math.min(this.#lacking, PATIENCE + SLACK);
    this.#reckonSure();
  }

  /** Ends the open cover when nothing before a place prolongs it: its finding has to be reported before later ones. */
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
    // Places that a cover was asked about meanwhile are passed, too.
    const to = Math.max(at, this.#lastAt);
    if (to > this.#countedTo) {
      this.#lacking = Math.max(0, this.#lacking - (to - this.#countedTo) * CHARACTER);
      this.#countedTo = to;
    }
    this.#lacking += room;
  }
}
