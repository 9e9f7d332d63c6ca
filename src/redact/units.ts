/** The code units of a text as an array, which is read in half the time of a string. */

/** A text and its code units with a NUL after the last; what lies behind the NUL means nothing. */
export interface Units {
  readonly text: string;
  readonly units: Uint16Array;
  /** Whether the text is known to hold nothing beyond Latin 1. */
  readonly isNarrow?: boolean;
}

/**
 * The unit `by` places before a place, or NUL before the text's beginning. Reading an array at an index below zero would make every later
 * read by the same code ten times as slow.
 */
export const unitBefore = (units: Uint16Array, at: number, by = 1): number =>
  at >= by ? (units[at - by] as number) : 0;

/** Classes of ASCII's characters; all other code units are in none of them. */
export const isDigit = (code: number): boolean => code >= 48 && code <= 57;
export const isUpper = (code: number): boolean => code >= 65 && code <= 90;
export const isLower = (code: number): boolean => code >= 97 && code <= 122;
export const isLetter = (code: number): boolean => isLower(code | 32);
export const isAlnum = (code: number): boolean => isDigit(code) || isLetter(code);

/** Room for one short text that is looked at and forgotten. */
export class Scratch {
  readonly #units = new Uint16Array(1 << 12);
  readonly #bytes = Buffer.from(this.#units.buffer);

  /** The units of a text. @returns an array that holds them until the next call, or for good when the text is long */
  take(text: string): Uint16Array {
    const { length } = text;
    if (length >= this.#units.length) {
      const bytes = Buffer.alloc(2 * (length + 1));
      bytes.write(text, "utf16le");
      return new Uint16Array(bytes.buffer, bytes.byteOffset, length + 1);
    }
    if (length > WORTH_A_CALL) this.#bytes.write(text, "utf16le");
    else for (let i = 0; i < length; i++) this.#units[i] = text.charCodeAt(i);
    this.#units[length] = 0;
    return this.#units;
  }
}

/** A shorter text is copied faster by a loop than by a call. */
const WORTH_A_CALL = 48;

const scratch = new Scratch();

/** The units of a name or value that stands alone. @returns an array that holds them until the next call */
export const unitsOf = (text: string): Uint16Array => scratch.take(text);

const escaped = (code: number): string => `\\u${code.toString(16).padStart(4, "0")}`;

/** An expression for `nextOf` that finds some signs. @param from and every one from this on */
export function anyOf(codes: readonly number[], from?: number): RegExp {
  const rest = from === undefined ? "" : `${escaped(from)}-\\uffff`;
  return new RegExp(`[${codes.map(escaped).join("")}${rest}]`, "g");
}

/** A stretch longer than this is left to `nextOf`. */
export const LONG_RUN = 256;
/** By how much an expression is quicker than a loop, at the least. */
export const QUICKER = 8;

/**
 * The place of the next sign, or the text's end. A value may be millions of characters long, and a loop over it that runs for
 * the first time takes ten times as long as an expression, in one piece that keeps others waiting.
 */
export function nextOf(signs: RegExp, text: string, from: number): number {
  signs.lastIndex = from;
  return signs.exec(text)?.index ?? text.length;
}

/** Whether a pattern matches in stretches of one text. Asked roughly from first to last, it reads each character once. */
export class Standing {
  readonly #pattern: RegExp;
  readonly #most: number;
  /** Between these places no match begins. */
  #from = 0;
  #to = 0;

  /** @param pattern with the flag `g` @param most the length of its longest match */
  constructor(pattern: RegExp, most: number) {
    this.#pattern = pattern;
    this.#most = most;
  }

  in(text: string, start: number, end: number): boolean {
    if (start < this.#from || start > this.#to) this.#from = this.#to = start;
    if (this.#to >= end) return false;
    // The character before is read, too, so that `\b` does not match merely because reading resumes here.
    const from = Math.max(start, this.#to - 1);
    this.#pattern.lastIndex = this.#to - from;
    const match = this.#pattern.exec(text.slice(from, end));
    this.#to = match === null ? Math.max(this.#to, end - this.#most + 1) : from + match.index;
    return match !== null;
  }
}

/**
 * Copies the low bytes of a stretch of a text and of what stands around it; NUL where the text has nothing.
 * @param base where the stretch begins in the text; in the bytes it begins after the first `around`, and the last `around` lie behind it
 * @returns the length of the stretch
 */
export function fillBytes(bytes: Buffer, text: string, base: number, around: number): number {
  const room = bytes.length - around;
  const from = base === 0 ? around : 0;
  if (base === 0) bytes.fill(0, 0, around);
  const isWhole = base === 0 && text.length <= room;
  const part = isWhole ? text : text.slice(base - around + from, base + room);
  if (part.length > WORTH_A_CALL) bytes.write(part, from, "latin1");
  else for (let i = 0; i < part.length; i++) bytes[from + i] = part.charCodeAt(i);
  bytes.fill(0, from + part.length, Math.min(bytes.length, from + part.length + around));
  return Math.min(text.length - base, room - around);
}
