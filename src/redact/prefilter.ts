/**
 * The first pass over a text: finds where any anchor of the rule table stands, reading about every second character.
 *
 * It is Wu and Manber's multi-string search. Of each anchor it looks for a window of the four (or three) characters least common in
 * ordinary text. A table says for each pair of characters how far ahead the next place lies where a window could end. Where a window
 * stands, `around.ts` refuses most of the anchors that it could belong to; docs/redaction.md has what else was measured. It works on the
 * text's low bytes (one byte for each code unit, so that positions carry over). A code unit above 255 can therefore look like another
 * character and cost a useless try of a rule, but never hide an anchor.
 */

import { ANY, Around, KIND_SHIFT, LOOKS, NO_LOOKS, PLACE_MASK, REACH } from "./around.ts";
import { FREE, GLUED, MAX_ESCAPE, wordBefore } from "./fresh.ts";
import { codesOf, type Kind, kindsOf } from "./pattern.ts";
import { rarest } from "./rarity.ts";
import { MAX_BACK, rowBefore, rowOf, rowPassed } from "./sign-row.ts";
import { fillBytes, isAlnum } from "./units.ts";

const CHUNK = 1 << 16;
/** Bytes before a stretch, which belong to the one before it. */
const LEAD = REACH;
const WINDOW = 4;
const SLOTS = 1 << 15;

/** Bits of the kinds of windows that end in three given characters. */
const ENDS_THREE = 1;
const ENDS_FOUR = 2;
const ENDS_ROW = 4;

/** One anchor with what to do where it is seen. */
export interface Target<T> {
  readonly anchor: string;
  readonly fold: boolean;
  readonly payload: T;
  /** How far before the anchor the payload wants to look. */
  readonly by?: number;
  /** Whether it wants to look only where a token may start. */
  readonly isApart?: boolean;
  /** The kind of each place from the one it looks at on, as far as it is known; asked for when the anchor is first seen. */
  readonly kinds?: () => readonly Kind[];
}

interface Stored<T> {
  readonly target: Target<T>;
  readonly payload: T;
  readonly isApart: boolean;
  /** Whether the target's `kinds` were taken up. */
  isNarrow: boolean;
}

/** Called for each anchor that is seen. */
export interface Visitor<T> {
  /**
   * @param at the place to look at
   * @param isUnsure whether a token has to start there but perhaps does not, which the low bytes alone do not tell
   * @returns whether the search is over
   */
  visit(at: number, payload: T, isUnsure: boolean): boolean;
}

const slotOf = (key: number): number => Math.imul(key, 0x9e3779b1) >>> 17;

const endOf = (three: number): number => Math.imul(three, 0x9e3779b1) >>> 16;

/**
 * What is stored of a target for each window: its index; how far its place to look at lies before the window's end; how long a row of one
 * repeated character has to go up to there at least (0 for an anchor that does not begin with such a row); and the looks.
 */
const RECORD = 3 + LOOKS;
const LAST = -1;

const ANY_CODE: readonly number[] = Array.from({ length: 256 }, (_, code) => code);

export class Prefilter<T> {
  readonly #shift = new Uint8Array(1 << 16).fill(WINDOW - 1);
  readonly #keys = new Int32Array(SLOTS);
  /** Where the records of each key begin. */
  readonly #lists = new Int32Array(SLOTS).fill(-1);
  /** Records one after another, with `LAST` after those of a key. */
  readonly #records: Int32Array;
  readonly #stored: readonly Stored<T>[];
  readonly #around = new Around();
  /** Which kinds of windows end in three characters of this hash. It rules out most places that the shift table stops at. */
  readonly #ends = new Uint8Array(1 << 16);
  /**
   * By character, how long a row of it has to be for a window of it to be looked at (`#rowFrom`) and for the rest of the row to be passed
   * over (`#rows`); 0 for never.
   */
  readonly #rowFrom = new Uint8Array(256);
  readonly #rows = new Uint8Array(256);
  readonly #bytes = Buffer.alloc(LEAD + CHUNK + REACH);

  constructor(targets: readonly Target<T>[]) {
    // Objects of one shape, which V8 reads twice as fast.
    this.#stored = targets.map((target) => ({
      target,
      payload: target.payload,
      isApart: target.isApart ?? false,
      isNarrow: false,
    }));
    const lists = new Map<number, number[]>();
    for (const [number, target] of targets.entries()) this.#add(target, number, lists);
    this.#records = new Int32Array(lists.values().reduce((sum, list) => sum + list.length + 1, 0)).fill(LAST);
    let begin = 0;
    for (const [key, list] of lists) {
      this.#records.set(list, begin);
      this.#put(key, begin);
      begin += list.length + 1;
    }
    this.#markRows();
  }

  /**
   * Finds the characters of which a row, as data is full of, can be passed over. The targets of its windows start a token, which would have
   * to start within the row, behind more of these characters than an escape has.
   */
  #markRows(): void {
    for (let sign = 0; sign < 128; sign++) {
      if (!isAlnum(sign) || this.#listOf(rowOf(sign) & 0xffffff) !== -1) continue;
      let record = this.#listOf(rowOf(sign));
      let before = 0;
      let from = REACH;
      for (; record !== -1 && this.#records[record] !== LAST; record += RECORD) {
        const { isApart } = this.#stored[this.#records[record] as number] as Stored<T>;
        before = Math.max(before, isApart ? (this.#records[record + 1] as number) : Number.POSITIVE_INFINITY);
        from = Math.min(from, this.#records[record + 2] as number);
      }
      if (before === 0 || before > MAX_BACK) continue;
      this.#rows[sign] = before + MAX_ESCAPE;
      this.#rowFrom[sign] = from;
    }
  }

  /** Where the records of a key begin; -1 for none. */
  #listOf(key: number): number {
    let slot = slotOf(key);
    while (this.#lists[slot] !== -1 && this.#keys[slot] !== key) slot = (slot + 1) & (SLOTS - 1);
    return this.#lists[slot] as number;
  }

  #add(target: Target<T>, number: number, lists: Map<number, number[]>): void {
    const kinds = kindsOf(target.anchor, target.fold);
    const sets = kinds.map(codesOf);
    const width = Math.min(WINDOW, sets.length);
    if (width < WINDOW - 1) throw new Error(`anchor too short: ${target.anchor}`);
    const start = rarest(sets, width);
    const window = sets.slice(start, start + width);
    // Block j of the window ends WINDOW - 2 - j places before the window does. A three-character anchor's first
    // block is "anything, then its first character".
    for (let j = 0; j < WINDOW - 1; j++) {
      const first = width === WINDOW ? window[j] : j === 0 ? undefined : window[j - 1];
      const second = (width === WINDOW ? window[j + 1] : window[j]) ?? [];
      for (const a of first ?? ANY_CODE) {
        for (const b of second) {
          const pair = (a << 8) | b;
          this.#shift[pair] = Math.min(this.#shift[pair] ?? 0, WINDOW - 2 - j);
        }
      }
    }
    const isRow = width === WINDOW && new Set(sets.slice(0, start + width).flat()).size === 1;
    const row = isRow ? start + width : 0;
    // Otherwise a window of one repeated character would be taken for one without a row.
    if (row > 0) this.#markEnd(rowOf(window[0]?.[0] as number), ENDS_ROW);
    const record = [number, start + width - 1 + (target.by ?? 0), row, ...NO_LOOKS];
    const spell = (position: number, key: number): void => {
      if (position === width) {
        const list = lists.get(key);
        if (list) list.push(...record);
        else lists.set(key, [...record]);
        return;
      }
      for (const c of window[position] ?? []) spell(position + 1, (key << 8) | c);
    };
    // Three-character anchors leave the key's top byte zero, four-character ones never do.
    spell(0, 0);
  }

  #markEnd(key: number, kind: number): void {
    const end = endOf(key & 0xffffff);
    this.#ends[end] = (this.#ends[end] as number) | kind;
  }

  #put(key: number, begin: number): void {
    let slot = slotOf(key);
    while (this.#lists[slot] !== -1) slot = (slot + 1) & (SLOTS - 1);
    this.#markEnd(key, key >>> 24 === 0 ? ENDS_THREE : ENDS_FOUR);
    this.#keys[slot] = key;
    this.#lists[slot] = begin;
  }

  /** Sets a target's looks, from the kinds around its anchor. */
  #narrow(number: number): void {
    const stored = this.#stored[number] as Stored<T>;
    stored.isNarrow = true;
    const { anchor, fold, by = 0, kinds } = stored.target;
    const signs = kindsOf(anchor, fold);
    const all = kinds?.() ?? [];
    const known = Array.from({ length: Math.max(all.length, by + signs.length) }, (_, i) => signs[i - by] ?? all[i]);
    const records = this.#records;
    for (let at = 0; at < records.length; at += records[at] === LAST ? 1 : RECORD) {
      if (records[at] !== number) continue;
      const end = records[at + 1] as number;
      // All characters of a row of one repeated character were looked at.
      const width = Math.max(records[at + 2] as number, Math.min(WINDOW, signs.length));
      const anchored = { end, width, from: by, to: by + signs.length };
      records.set(this.#around.looks({ kinds: known, ...anchored }), at + 3);
    }
  }

  /**
   * Visits every anchor in the stretch that begins at `base`, roughly from first to last, until a visit ends it.
   * @returns where the next stretch begins, or undefined when the text is at its end or a visit stopped the search
   */
  searchFrom(text: string, base: number, visitor: Visitor<T>): number | undefined {
    const bytes = this.#bytes;
    const shift = this.#shift;
    const ends = this.#ends;
    const end = LEAD + fillBytes(bytes, text, base, LEAD);
    const first = base === 0 ? LEAD + WINDOW - 2 : LEAD + WINDOW - 1;
    // Length of the row of one repeated character up to a place, and that place.
    let [row, rowAt] = [0, 0];
    for (let i = first; i < end; ) {
      const skip = shift[((bytes[i - 1] as number) << 8) | (bytes[i] as number)] as number;
      if (skip !== 0) {
        i += skip;
        continue;
      }
      const three = ((bytes[i - 2] as number) << 16) | ((bytes[i - 1] as number) << 8) | (bytes[i] as number);
      const ended = ends[endOf(three)] as number;
      if (ended !== 0) {
        const four = ((bytes[i - 3] as number) << 24) | three;
        const at = base + i - LEAD;
        if ((ended & ENDS_ROW) !== 0 && four === rowOf(bytes[i] as number)) {
          const enough = this.#rows[bytes[i] as number] as number;
          row = i === rowAt + 1 ? row + 1 : rowBefore(bytes, i, LEAD);
          rowAt = i;
          const from = this.#rowFrom[bytes[i] as number] as number;
          if (row < from) {
            for (i++; row + 1 < from && i < end && bytes[i] === bytes[i - 1]; i++) {
              row++;
              rowAt = i;
            }
            continue;
          }
          if (row > enough && enough > 0) {
            const passed = rowPassed(text, at, enough, base + end - LEAD);
            if (passed > 0) {
              i += passed;
              continue;
            }
          }
        }
        const inRow = i === rowAt ? row : 0;
        if ((ended & ENDS_FOUR) !== 0 && four !== three && this.#visitAll(four, text, i, at, inRow, visitor))
          return undefined;
        if ((ended & ENDS_THREE) !== 0 && this.#visitAll(three, text, i, at, 0, visitor)) return undefined;
      }
      i++;
    }
    // Stretches share their last places, so that no anchor is cut in two.
    const next = base + CHUNK - (WINDOW - 1);
    return next < text.length ? next : undefined;
  }

  /**
   * @param i where the window ends in the bytes
   * @param at where it ends in the text
   * @param row length of the row of one repeated character up to there
   */
  #visitAll(key: number, text: string, i: number, at: number, row: number, visitor: Visitor<T>): boolean {
    const keys = this.#keys;
    let slot = slotOf(key);
    while (keys[slot] !== key) {
      if (this.#lists[slot] === -1) return false;
      slot = (slot + 1) & (SLOTS - 1);
    }
    const records = this.#records;
    const bytes = this.#bytes;
    const { signs } = this.#around;
    const from = i - REACH;
    for (let record = this.#lists[slot] as number; record !== -1; record += RECORD) {
      const number = records[record] as number;
      if (number === LAST) return false;
      if (row < (records[record + 2] as number)) continue;
      // Spelled out: as a function of its own it takes twice as long.
      const first = records[record + 3] as number;
      if (first !== ANY) {
        if (signs[(first >> KIND_SHIFT) + (bytes[from + (first & PLACE_MASK)] as number)] === 0) continue;
        const second = records[record + 4] as number;
        if (signs[(second >> KIND_SHIFT) + (bytes[from + (second & PLACE_MASK)] as number)] === 0) continue;
        const third = records[record + 5] as number;
        if (signs[(third >> KIND_SHIFT) + (bytes[from + (third & PLACE_MASK)] as number)] === 0) continue;
        const fourth = records[record + 6] as number;
        if (signs[(fourth >> KIND_SHIFT) + (bytes[from + (fourth & PLACE_MASK)] as number)] === 0) continue;
      }
      if (this.#visitOne(number, records[record + 1] as number, text, i, at, visitor)) return true;
    }
    return false;
  }

  #visitOne(number: number, back: number, text: string, i: number, at: number, visitor: Visitor<T>): boolean {
    if (at < back) return false;
    const stored = this.#stored[number] as Stored<T>;
    const before = stored.isApart ? wordBefore(this.#bytes, i - back) : FREE;
    // The low byte of a character beyond Latin 1 may look like a letter.
    if (before === GLUED && text.charCodeAt(at - back - 1) < 256) return false;
    if (!stored.isNarrow) this.#narrow(number);
    return visitor.visit(at - back, stored.payload, before !== FREE);
  }
}
