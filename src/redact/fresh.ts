/** Whether a token may start at a place: the character before it must not belong to the same word. */
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

/** What the character before a place tells at once: a token may start there, or not, or it takes a closer look. */
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

/** How far before a word's end the first character of a short escape may stand. */
export const MAX_ESCAPE = 6;

/** Whether a character of an escape stands where it would have to, by a look at each of these places. */
const mayEndEscape = (units: Uint16Array | Uint8Array, end: number): boolean =>
  end < MAX_ESCAPE ||
  units[end - 1] === SMALL_M ||
  units[end - 2] === BACKSLASH ||
  units[end - 3] === PERCENT ||
  units[end - 4] === BACKSLASH ||
  units[end - 6] === BACKSLASH;

/** The end of the word that a token at `at` would be glued to. A dot before it is a part of that word: "favicon.ico-…", "this.s.…". */
const gluedTo = (units: Uint16Array, at: number): number => (unitBefore(units, at) === DOT ? at - 1 : at);

/**
 * Whether a token may start at `at`: nothing stands before it, or no letter or digit. A letter that ends an escape (`\n`, `%3D`, a terminal
 * colour's `[32m`, a six-character Unicode escape) does not count. So on raw JSON this is true wherever it is true of the decoded text.
 */
function startsFresh(units: Uint16Array, at: number): boolean {
  if (at === 0) return true;
  const before = BEFORE[units[at - 1] as number];
  if (before !== UNSURE) return before === FREE;
  const wordEnd = gluedTo(units, at);
  if (wordEnd === 0) return true;
  return !isAlnum(units[wordEnd - 1] as number) || (mayEndEscape(units, wordEnd) && endsEscape(units, wordEnd));
}

/** No escape before a place, with a dot between them, is longer. */
const MAX_BEFORE = 24;

/**
 * What stands before a place, for callers that have only the low bytes of a text: `GLUED` may be wrong when the character is beyond Latin
 * 1. The place must have `MAX_ESCAPE` others before it.
 */
export function wordBefore(bytes: Uint8Array, at: number): number {
  const code = bytes[at - 1] as number;
  const before = BEFORE[code] as number;
  return before === UNSURE && code !== DOT && !mayEndEscape(bytes, at) ? GLUED : before;
}

/** As `startsFresh`, for a text of which only a few places are looked at. */
export function startsFreshIn(text: string, at: number): boolean {
  if (at === 0) return true;
  const before = BEFORE[text.charCodeAt(at - 1)];
  if (before !== UNSURE) return before === FREE;
  const from = Math.max(0, at - MAX_BEFORE);
  return startsFresh(unitsOf(text.slice(from, at)), at - from);
}

/** As `startsFresh`, but remembers the last place: rules whose marks begin alike ask for the same one. */
export function isFresh(reading: Reading, at: number): boolean {
  if (reading.freshAt !== at) {
    reading.freshAt = at;
    reading.isFresh = startsFresh(reading.units, at);
  }
  return reading.isFresh;
}
