/**
 * Reading JSON text without losing what was sent. `JSON.parse` rounds large integers, drops all but the last of
 * duplicate members and forgets spelling; free-form parts are therefore kept as slices of the text itself, and only what we
 * understand is read from the parsed value. All other functions here take text that `JSON.parse` has already accepted.
 */

import { closingQuote, PIECE_UNITS } from "./json-bounds.ts";

/** A range of a JSON text: `[start, end)` in UTF-16 code units. */
export interface Slice {
  readonly start: number;
  readonly end: number;
}

/** A member of a JSON object in its own spelling. */
export interface Member extends Slice {
  readonly key: string;
}

/** Up to this many names are compared pair by pair, which is cheaper than a set. */
const FEW_MEMBERS = 6;

const QUOTE = 34;
const BACKSLASH = 92;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
const COMMA = 44;
const COLON = 58;

/** The value of a JSON text, or undefined when it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Position after the string literal that opens at `at`. */
const afterString = (text: string, at: number): number => closingQuote(text, at) + 1;

function skipSpace(text: string, at: number): number {
  let i = at;
  for (let code = text.charCodeAt(i); code === 32 || code === 10 || code === 13 || code === 9; )
    code = text.charCodeAt(++i);
  return i;
}

/** Position after the value that begins at `at` (no leading space). */
function afterValue(text: string, at: number): number {
  const first = text.charCodeAt(at);
  if (first === QUOTE) return afterString(text, at);
  let i = at;
  if (first === OPEN_BRACE || first === OPEN_BRACKET) {
    let depth = 0;
    for (;;) {
      const code = text.charCodeAt(i);
      if (code === QUOTE) {
        i = afterString(text, i);
        continue;
      }
      if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++;
      else if ((code === CLOSE_BRACE || code === CLOSE_BRACKET) && --depth === 0) return i + 1;
      i++;
    }
  }
  for (;;) {
    const code = text.charCodeAt(i);
    if (code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET || code <= 32 || Number.isNaN(code)) return i;
    i++;
  }
}

/**
 * The members of the object that begins at or after `at`, in order, duplicates included. Empty for anything else.
 * @param names only members of these names; there may be very many others
 */
export function members(text: string, at = 0, names?: readonly string[]): Member[] {
  const found: Member[] = [];
  let i = skipSpace(text, at);
  if (text.charCodeAt(i) !== OPEN_BRACE) return found;
  i = skipSpace(text, i + 1);
  while (text.charCodeAt(i) === QUOTE) {
    const keyEnd = afterString(text, i);
    const literal = text.slice(i, keyEnd);
    const key = literal.includes("\\") ? (JSON.parse(literal) as string) : literal.slice(1, -1);
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = afterValue(text, start);
    if (names === undefined || names.includes(key)) found.push({ key, start, end });
    i = skipSpace(text, end);
    if (text.charCodeAt(i) === COMMA) i = skipSpace(text, i + 1);
  }
  return found;
}

/** The elements of the array that begins at or after `at`, in order. Empty for anything else. */
export function elements(text: string, at = 0): Slice[] {
  const found: Slice[] = [];
  let i = skipSpace(text, at);
  if (text.charCodeAt(i) !== OPEN_BRACKET) return found;
  i = skipSpace(text, i + 1);
  while (i < text.length && text.charCodeAt(i) !== CLOSE_BRACKET) {
    const end = afterValue(text, i);
    found.push({ start: i, end });
    i = skipSpace(text, end);
    if (text.charCodeAt(i) === COMMA) i = skipSpace(text, i + 1);
  }
  return found;
}

/** A member by name; of duplicates the last, as `JSON.parse` takes it. */
export function findMember(list: readonly Member[], key: string): Member | undefined {
  return list.findLast((member) => member.key === key);
}

/** The first name that occurs twice among an object's members, or undefined. */
export function duplicateKey(list: readonly Member[]): string | undefined {
  if (list.length <= FEW_MEMBERS) return list.find(({ key }, i) => list.findIndex((one) => one.key === key) < i)?.key;
  const seen = new Set<string>();
  for (const { key } of list) {
    if (seen.has(key)) return key;
    seen.add(key);
  }
  return undefined;
}

/**
 * Whether any object in a text names a member twice. Keeps no more than the names of the objects it is inside of.
 * @param pause awaited after every piece of the text
 */
export async function repeatsMember(text: string, pause: () => Promise<void> | undefined): Promise<boolean> {
  const open: (Set<string> | undefined)[] = [];
  let pauseAt = PIECE_UNITS;
  for (let i = 0; i < text.length; ) {
    if (i >= pauseAt) {
      pauseAt = i + PIECE_UNITS;
      await pause();
    }
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      const end = afterString(text, i);
      const names = open.at(-1);
      // In an object, a string before a colon is a name.
      if (names && text.charCodeAt(skipSpace(text, end)) === COLON) {
        const literal = text.slice(i, end);
        const name = literal.includes("\\") ? (JSON.parse(literal) as string) : literal.slice(1, -1);
        if (names.has(name)) return true;
        names.add(name);
      }
      i = end;
      continue;
    }
    if (code === OPEN_BRACE) open.push(new Set());
    else if (code === OPEN_BRACKET) open.push(undefined);
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) open.pop();
    i++;
  }
  return false;
}

/** Whether a number is spelled as an integer. The parsed value does not tell: rounding makes others whole, too. */
export function isWholeNumber(text: string): boolean {
  return /^-?\d+(?:\.0+)?$/.test(text);
}

/** Whether a value is a JSON object (not null, not an array). */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** JSON text as it can stand in a file of JSON Lines: line breaks, which stand only between its tokens, become spaces. */
export const inOneLine = (text: string): string => text.replace(/[\r\n]/g, " ");

/** The original text when `inOneLine` changes it, for those who hash it; undefined otherwise. */
export const exactly = (text: string): string | undefined => (/[\r\n]/.test(text) ? text : undefined);

/**
 * The text of a member of a line as it was before `inOneLine`.
 * @param exact what `exactly` gave, if anything
 * @returns undefined where the line names a member twice, has none of that name, or shows another text than the exact one
 */
export function exactMember(line: string, name: string, exact: string | undefined): string | undefined {
  const own = members(line);
  const member = findMember(own, name);
  if (!member || duplicateKey(own) !== undefined) return undefined;
  const shown = line.slice(member.start, member.end);
  if (exact === undefined) return shown;
  return inOneLine(exact) === shown ? exact : undefined;
}

const LOWER_CASE = 0x20;
const FFFD = [...Buffer.from("fffd")];

/** Which half of a surrogate pair is escaped at a place. */
function halfAt(bytes: Buffer, at: number): "high" | "low" | undefined {
  if (bytes[at] !== BACKSLASH || bytes[at + 1] !== 0x75) return undefined;
  const second = bytes[at + 3] as number;
  if (((bytes[at + 2] as number) | LOWER_CASE) !== 0x64 || second < 0x38) return undefined;
  return second > 0x39 && (second | LOWER_CASE) > 0x62 ? "low" : "high";
}

/** JSON text with U+FFFD for each lone surrogate: because of one, many readers (jq, DuckDB, serde, pydantic) refuse the whole text. */
export function withoutHalves(text: string): string {
  if (!/\\u[dD][89a-fA-F]/.test(text)) return text;
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] !== BACKSLASH) continue;
    const half = halfAt(bytes, at);
    if (half === "high" && halfAt(bytes, at + 6) === "low") at += 11;
    else if (half) for (const sign of FFFD) bytes[++at + 1] = sign;
    else at++;
  }
  return bytes.toString();
}
