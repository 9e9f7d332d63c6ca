/** One text while it is searched: what was found in it, and what of it was read already, so that nothing is read again and again. */
import { type Kind, mayStand, othersThan } from "./pattern.ts";
import type { Strength } from "./rule.ts";
import { LONG_RUN, nextOf, Scratch, type Units } from "./units.ts";
import type { Clear } from "./values.ts";

/** A secret found in a text; offsets in UTF-16 code units, of the secret value itself. */
export interface Finding {
  readonly rule: string;
  readonly strength: Strength;
  readonly start: number;
  readonly end: number;
}

export type Span = readonly [start: number, end: number];

/** What a marker in a redacted text begins with. */
export const MARKER_START = "[REDACTED:";
export const MARKER = /\[REDACTED:[a-z0-9-]{1,64}\]/y;

/** One for all short texts: each is searched to its end before the next one is. */
const scratch = new Scratch();

/** What the search for assigned values read of one text; its names come roughly from first to last. */
export class AssignedState {
  /** From the one to the other all is one name. */
  nameFrom = 0;
  nameTo = 0;
  /** The end of the last name looked at: all anchors in one name share one look. */
  judged = -1;
  /** From the one to the other all is one value. */
  valueFrom = 0;
  valueTo = 0;
  /** A value that starts before this was judged as a part of another. */
  until = 0;
  /** The same for values that would need a digit and a letter. */
  plainUntil = 0;
  clear: Clear | undefined;
}

let readings = 0;

export class Reading implements Units {
  /** Tells readings apart for caches that must not keep one alive. */
  readonly id = ++readings;
  readonly text: string;
  readonly units: Uint16Array;
  readonly candidates: Finding[] = [];
  readonly assigned = new AssignedState();
  /** What the probes cost so far: one for each character examined and for each probe or pattern run. */
  work = 0;
  /** The end of the last marker that was found. */
  markerTo = 0;
  /** The last place that `isFresh` was asked about, and the answer. */
  freshAt = -1;
  isFresh = false;
  readonly #rules: number;
  /** Between the two no marker begins; the second is where one does, or the text's end. */
  #markerFrom = 0;
  #markerAt = -1;
  #readUntil: Int32Array | undefined;
  #memos: Map<object, object> | undefined;
  #lastKey: object | undefined;
  #lastMemo: object | undefined;
  #isNarrow: boolean | undefined;

  /** @param rules how many rows the table has */
  constructor(text: string, rules: number) {
    this.text = text;
    this.units = scratch.take(text);
    this.#rules = rules;
  }

  /** Whether the beginning of an earlier redaction's marker stands in a stretch. */
  holdsMarker(from: number, to: number): boolean {
    // Places come roughly from first to last; a step back must not search the rest of the text anew.
    if (from < this.#markerFrom) return this.text.slice(from, to).includes(MARKER_START);
    if (from > this.#markerAt) {
      const at = this.text.indexOf(MARKER_START, from);
      this.#markerFrom = from;
      this.#markerAt = at === -1 ? this.text.length : at;
    }
    return this.#markerAt + MARKER_START.length <= to;
  }

  /** The place up to which a row of the table has read: it starts no match before. */
  readUntil(rank: number): number {
    return this.#readUntil === undefined ? 0 : (this.#readUntil[rank] as number);
  }

  setReadUntil(rank: number, until: number): void {
    this.#readUntil ??= new Int32Array(this.#rules);
    this.#readUntil[rank] = until;
  }

  /** A probe's memory of this text, made at its first use. @param key identifies the probe */
  memo<T extends object>(key: object, make: () => T): T {
    if (key === this.#lastKey) return this.#lastMemo as T;
    this.#memos ??= new Map();
    const stored = (this.#memos.get(key) as T | undefined) ?? make();
    this.#memos.set(key, stored);
    this.#lastKey = key;
    this.#lastMemo = stored;
    return stored;
  }

  /**
   * Whether the text holds nothing beyond Latin 1. An expression tells that at once of a string that V8 keeps with a byte for each
   * character.
   */
  get isNarrow(): boolean {
    this.#isNarrow ??= !/[^\0-\xff]/.test(this.text);
    return this.#isNarrow;
  }
}

/** Where a stretch of one kind of character ends, whatever its length. */
export function endOfKind({ text, units }: Units, at: number, kind: Kind): number {
  const soon = Math.min(text.length, at + LONG_RUN);
  let end = at;
  while (end < soon && mayStand(kind, units[end] as number)) end++;
  return end < soon ? end : nextOf(othersThan(kind), text, end);
}

/** Asked where an anchor is seen: `find` decides; `may` is a cheaper, more lenient check for the quick no. */
export interface Probe {
  /** Asked before `find`, if there is a gate: it rules out most places. */
  readonly gate: { refuses(reading: Reading, at: number): boolean } | undefined;
  /** Whether it is a form that secrets have, wherever they stand. */
  readonly isForm: boolean;
  /** How far after the anchor a finding may begin; undefined when each place has to be judged, also in a crowd. See `Crowd`. */
  readonly reach: "near" | "far" | undefined;
  /** The room that a place has to itself in any ordinary text, see `crowd.ts`; undefined when it follows from the work of the look. */
  readonly room: number | undefined;
  find(reading: Reading, at: number): void;
  may(text: string, at: number): boolean;
}

/** Where stretches of one kind of character end; asked from ascending places of a text, it examines each character once. */
export class Run {
  readonly #kind: Kind;
  #reading = 0;
  #from = 0;
  #to = 0;

  constructor(kind: Kind) {
    this.#kind = kind;
  }

  /** The first place from `at` on that holds another character, or else `at + most` or the text's end. */
  endOf(reading: Reading, at: number, most: number): number {
    const { text, units } = reading;
    const limit = Math.min(text.length, at + most);
    if (reading.id !== this.#reading || at < this.#from || at > this.#to) {
      this.#reading = reading.id;
      this.#from = at;
      this.#to = at;
    }
    if (this.#to >= limit) return limit;
    let i = this.#to;
    while (i < limit && mayStand(this.#kind, units[i] as number)) i++;
    reading.work += i - this.#to + 1;
    this.#to = i;
    return i;
  }
}
