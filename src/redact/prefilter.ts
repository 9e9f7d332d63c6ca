/**
 * The first pass over a text: finds where any anchor of the rule table stands, reading about every second character.
 *
 * It is Wu and Manber's multi-string search: of each anchor the four (or three) characters least common in ordinary
 * text count, and a table says for each pair of characters how far ahead the next place lies where such a window could
 * end. docs/redaction.md has what else was measured. It works on the text's low bytes (one byte a code unit, so that
 * positions carry over); a code unit above 255 can therefore look like another character and cost a useless try of a
 * rule, but never hide an anchor.
 */

import { isGlued, MAX_ESCAPE } from "./fresh.ts";
import { WORTH_A_CALL } from "./units.ts";

const CHUNK = 1 << 16;
/** Room before the text, so that a short anchor at its very start has something before it. */
const LEAD = 4;
const WINDOW = 4;
const SLOTS = 1 << 15;

/** What kinds of windows end in three characters. */
const ENDS_THREE = 1;
const ENDS_FOUR = 2;

/** One anchor with what to do where it is seen. */
export interface Target<T> {
  readonly anchor: string;
  readonly fold: boolean;
  readonly payload: T;
  /** How far before the anchor the payload wants to look. */
  readonly by?: number;
  /** Whether it wants to look only where a token may start. */
  readonly isApart?: boolean;
}

/** What looks at one place where a window stands. */
export interface Seen<T> {
  /** How far before the window's end that place lies. */
  readonly back: number;
  readonly isApart: boolean;
  readonly payloads: T[];
}

/** What is called for anchors seen: `at` is the place to look at. True stops the search. */
export type Visit<T> = (at: number, seen: Seen<T>) => boolean;

/** Splits an anchor's spelling into one list of characters a position. */
function positions(anchor: string, fold: boolean): number[][] {
  const out: number[][] = [];
  for (let i = 0; i < anchor.length; i++) {
    const set = new Set<number>();
    if (anchor[i] === "[") {
      const close = anchor.indexOf("]", i + 1);
      const body = anchor.slice(i + 1, close);
      for (let k = 0; k < body.length; k++) {
        const from = body.charCodeAt(k);
        const isRange = body[k + 1] === "-" && k + 2 < body.length;
        const to = isRange ? body.charCodeAt(k + 2) : from;
        for (let c = from; c <= to; c++) set.add(c);
        if (isRange) k += 2;
      }
      i = close;
    } else set.add(anchor.charCodeAt(i));
    if (fold) {
      for (const c of [...set]) {
        const char = String.fromCharCode(c);
        set.add(char.toLowerCase().charCodeAt(0));
        set.add(char.toUpperCase().charCodeAt(0));
      }
    }
    out.push([...set]);
  }
  return out;
}

/** English letters from the most to the least common; program text keeps roughly to it. */
const BY_USE = "etaoinshrdlucmfwypvbgkjqxz";

/** Roughly how many of a thousand characters of ordinary text are this one. */
function perMille(code: number): number {
  const letter = BY_USE.indexOf(String.fromCharCode(code));
  if (letter >= 0) return 80 * 0.86 ** letter;
  if (code === 32) return 150;
  if (code === 45 || code === 46) return 14;
  if (code === 95 || code === 47 || code === 58 || code === 34) return 9;
  return code >= 48 && code <= 57 ? 6 : 3;
}

const logUse = (set: readonly number[]): number => Math.log(set.reduce((sum, c) => sum + perMille(c), 0));

/** The start of the stretch of `width` positions least often seen; its last pair counts twice, as the search stops there. */
function rarest(sets: readonly number[][], width: number): number {
  let best = 0;
  let bestScore = Number.POSITIVE_INFINITY;
  for (let start = 0; start + width <= sets.length; start++) {
    const window = sets.slice(start, start + width);
    let score = 0;
    for (const set of [...window, ...window.slice(-2)]) score += logUse(set);
    if (score < bestScore) {
      best = start;
      bestScore = score;
    }
  }
  return best;
}

const slotOf = (key: number): number => Math.imul(key, 0x9e3779b1) >>> 17;

const endOf = (three: number): number => Math.imul(three, 0x9e3779b1) >>> 16;

export class Prefilter<T> {
  readonly #shift = new Uint8Array(1 << 16).fill(WINDOW - 1);
  readonly #keys = new Int32Array(SLOTS);
  readonly #lists = new Int32Array(SLOTS).fill(-1);
  readonly #seen: Seen<T>[][] = [];
  /** Whether any window ends in three characters of this hash: most places the shift table stops at fall here. */
  readonly #ends = new Uint8Array(1 << 16);
  readonly #bytes = Buffer.alloc(LEAD + CHUNK);

  constructor(targets: readonly Target<T>[]) {
    for (const target of targets) this.#add(target);
  }

  #add(target: Target<T>): void {
    const sets = positions(target.anchor, target.fold);
    const width = Math.min(WINDOW, sets.length);
    if (width < WINDOW - 1) throw new Error(`anchor too short: ${target.anchor}`);
    const start = rarest(sets, width);
    const window = sets.slice(start, start + width);
    // Block j of the window ends WINDOW - 2 - j places before the window does. A three-character anchor's first
    // block is "anything, then its first character".
    for (let j = 0; j < WINDOW - 1; j++) {
      const first = width === WINDOW ? window[j] : j === 0 ? undefined : window[j - 1];
      const second = (width === WINDOW ? window[j + 1] : window[j]) ?? [];
      const firsts = first ?? Array.from({ length: 256 }, (_, c) => c);
      for (const a of firsts) {
        for (const b of second) {
          const pair = (a << 8) | b;
          this.#shift[pair] = Math.min(this.#shift[pair] ?? 0, WINDOW - 2 - j);
        }
      }
    }
    const back = start + width - 1 + (target.by ?? 0);
    const spell = (position: number, key: number): void => {
      if (position === width) {
        this.#put(key, back, target);
        return;
      }
      for (const c of window[position] ?? []) spell(position + 1, (key << 8) | c);
    };
    // Three-character anchors leave the key's top byte zero, four-character ones never do.
    spell(0, 0);
  }

  #put(key: number, back: number, { payload, isApart = false }: Target<T>): void {
    let slot = slotOf(key);
    while (this.#lists[slot] !== -1 && this.#keys[slot] !== key) slot = (slot + 1) & (SLOTS - 1);
    const end = endOf(key & 0xffffff);
    this.#ends[end] = (this.#ends[end] as number) | (key >>> 24 === 0 ? ENDS_THREE : ENDS_FOUR);
    if (this.#lists[slot] === -1) {
      this.#keys[slot] = key;
      this.#lists[slot] = this.#seen.push([]) - 1;
    }
    const list = this.#seen[this.#lists[slot] as number] as Seen<T>[];
    const similar = list.find((seen) => seen.back === back && seen.isApart === isApart);
    if (similar) similar.payloads.push(payload);
    else list.push({ back, isApart, payloads: [payload] });
  }

  /**
   * Calls `visit` for every anchor in the stretch that begins at `base`, roughly from first to last, until one says stop.
   * @returns where the next stretch begins, or undefined when the text is at its end or a visit stopped the search
   */
  searchFrom(text: string, base: number, visit: Visit<T>): number | undefined {
    const bytes = this.#bytes;
    const shift = this.#shift;
    const ends = this.#ends;
    const part = base === 0 && text.length <= CHUNK ? text : text.slice(base, base + CHUNK);
    const end = LEAD + part.length;
    if (part.length > WORTH_A_CALL) bytes.write(part, LEAD, "latin1");
    else for (let i = 0; i < part.length; i++) bytes[LEAD + i] = part.charCodeAt(i);
    const first = base === 0 ? LEAD + WINDOW - 2 : LEAD + WINDOW - 1;
    bytes[LEAD - 1] = 0;
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
        if ((ended & ENDS_FOUR) !== 0 && four !== three && this.#visitAll(four, text, i, at, visit)) return undefined;
        if ((ended & ENDS_THREE) !== 0 && this.#visitAll(three, text, i, at, visit)) return undefined;
      }
      i++;
    }
    // Stretches share their last places, so that no anchor is cut in two.
    const next = base + CHUNK - (WINDOW - 1);
    return next < text.length ? next : undefined;
  }

  /** @param i where the window ends among the bytes, and @param at in the text */
  #visitAll(key: number, text: string, i: number, at: number, visit: Visit<T>): boolean {
    const lists = this.#lists;
    let slot = slotOf(key);
    while (lists[slot] !== -1 && this.#keys[slot] !== key) slot = (slot + 1) & (SLOTS - 1);
    const list = lists[slot] as number;
    if (list === -1) return false;
    const all = this.#seen[list] as Seen<T>[];
    for (let n = 0; n < all.length; n++) {
      const seen = all[n] as Seen<T>;
      if (at < seen.back || (seen.isApart && this.#isGlued(text, i - seen.back, at - seen.back))) continue;
      if (visit(at - seen.back, seen)) return true;
    }
    return false;
  }

  /** Whether no token starts at a place, as far as the bytes tell: a sign beyond them may look like a letter. */
  #isGlued(text: string, i: number, at: number): boolean {
    return i > LEAD + MAX_ESCAPE && isGlued(this.#bytes, i) && text.charCodeAt(at - 1) < 256;
  }
}
