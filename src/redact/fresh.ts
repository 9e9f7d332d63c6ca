/** Whether a token may start at a place: what stands before it has to be no part of the same word. */
import { kindOf, mayStand } from "./pattern.ts";
import type { Reading } from "./reading.ts";
import { isAlnum, unitBefore, unitsOf } from "./units.ts";

const DOT = 46;
const BACKSLASH = 92;
const PERCENT = 37;
const OPEN_BRACKET = 91;
const SMALL_M = 109;
const SMALL_U = 117;
const SMALL_X = 120;

/** Whether a word that stands in a row of one sign, behind as many as an escape has, is glued for sure: an m may end a terminal's colour. */
export const gluesInRow = (code: number): boolean => isAlnum(code) && code !== SMALL_M;

/** What stands before a place says of it, at a look: a word may begin there, or not, or it takes more looks. */
export const FREE = 0;
export const GLUED = 1;
const UNSURE = 2;
const BEFORE = new Uint8Array(1 << 16).fill(FREE);
for (let code = 0; code < 128; code++) if (isAlnum(code)) BEFORE[code] = GLUED;
for (const sign of ".nrtbfv0123456789ABCDEFabcdefm") BEFORE[sign.charCodeAt(0)] = UNSURE;

const SIMPLE_ESCAPE = kindOf("nrtbfv0");
const HEX = kindOf("0-9A-Fa-f");
const COLOUR = kindOf("0-9;");
const MAX_COLOUR = 12;

/** Whether the character before `end` is the last of an escape: `\\n`, `%3D`, `\\x1b`, `\\u001b`, a colour's `[32m`. */
function endsEscape(units: Uint16Array, end: number): boolean {
  const last = units[end - 1] as number;
  if (mayStand(SIMPLE_ESCAPE, last) && unitBefore(units, end, 2) === BACKSLASH) return true;
  if (last === SMALL_M) {
    let i = end - 1;
    while (i >= end - 1 - MAX_COLOUR && mayStand(COLOUR, unitBefore(units, i))) i--;
    return unitBefore(units, i) === OPEN_BRACKET;
  }
  if (!mayStand(HEX, last)) return false;
  const before = unitBefore(units, end, 3);
  if (before === PERCENT || (before === SMALL_X && unitBefore(units, end, 4) === BACKSLASH))
    return mayStand(HEX, units[end - 2] as number);
  if (unitBefore(units, end, 5) !== SMALL_U || unitBefore(units, end, 6) !== BACKSLASH) return false;
  for (let i = end - 4; i < end - 1; i++) if (!mayStand(HEX, units[i] as number)) return false;
  return true;
}

/** The most places before a word's end that the first sign of a short escape stands. */
export const MAX_ESCAPE = 6;

/** Whether one of the signs of an escape stands where it would have to, at a look each. */
const mayEndEscape = (units: Uint16Array | Uint8Array, end: number): boolean =>
  end < MAX_ESCAPE ||
  units[end - 1] === SMALL_M ||
  units[end - 2] === BACKSLASH ||
  units[end - 3] === PERCENT ||
  units[end - 4] === BACKSLASH ||
  units[end - 6] === BACKSLASH;

/** Where the word ends that something at `at` would be glued to. "favicon.ico-…", "this.s.…": a dot is a part of it. */
const gluedTo = (units: Uint16Array, at: number): number => (unitBefore(units, at) === DOT ? at - 1 : at);

/**
 * Whether a token may start at `at`: nothing there before it, or no letter or digit. A letter that ends an escape
 * (`\n`, `%3D`, a terminal colour's `[32m`, a six-character Unicode escape) is none of the token's. So on raw JSON
 * this is true wherever it is true of the decoded text.
 */
function startsFresh(units: Uint16Array, at: number): boolean {
  if (at === 0) return true;
  const before = BEFORE[units[at - 1] as number];
  if (before !== UNSURE) return before === FREE;
  const wordEnd = gluedTo(units, at);
  if (wordEnd === 0) return true;
  return !isAlnum(units[wordEnd - 1] as number) || (mayEndEscape(units, wordEnd) && endsEscape(units, wordEnd));
}

/** No escape before a place, and no dot, is longer. */
const MAX_BEFORE = 24;

/**
 * What stands before a place, for those who have the low bytes of a text alone: `GLUED` may be wrong where a sign is none
 * of Latin 1. Asked only of places with `MAX_ESCAPE` others before them.
 */
export function wordBefore(bytes: Uint8Array, at: number): number {
  const code = bytes[at - 1] as number;
  const before = BEFORE[code] as number;
  return before === UNSURE && code !== DOT && !mayEndEscape(bytes, at) ? GLUED : before;
}

/** As `startsFresh`, for a text that is looked at here and there. */
export function startsFreshIn(text: string, at: number): boolean {
  if (at === 0) return true;
  const before = BEFORE[text.charCodeAt(at - 1)];
  if (before !== UNSURE) return before === FREE;
  const from = Math.max(0, at - MAX_BEFORE);
  return startsFresh(unitsOf(text.slice(from, at)), at - from);
}

/** As `startsFresh`; rows whose marks begin alike ask for the same place one after another. */
export function isFresh(reading: Reading, at: number): boolean {
  if (reading.freshAt !== at) {
    reading.freshAt = at;
    reading.isFresh = startsFresh(reading.units, at);
  }
  return reading.isFresh;
}
