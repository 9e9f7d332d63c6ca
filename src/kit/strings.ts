/** Whether a text holds control characters (C0, DEL, C1) or lone surrogates, which no name of anything has. */
export function hasControls(text: string): boolean {
  return /\p{Cc}/u.test(text) || !text.isWellFormed();
}

/**
 * The beginning of a text. A character of two UTF-16 units is left out rather than cut in half.
 * @param most UTF-16 units at most
 */
export function beginning(text: string, most: number): string {
  const cut = text.slice(0, most);
  return cut.length < text.length && /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut;
}

const MAX_LIKE_CHARS = 200;

/** A pattern for SQLite's `LIKE … ESCAPE '\'` that finds a text anywhere; null for a blank one, which narrows nothing. */
export function likePattern(text: string): string | null {
  const wanted = text.trim().slice(0, MAX_LIKE_CHARS).toWellFormed();
  return wanted === "" ? null : `%${wanted.replace(/[\\%_]/g, "\\$&")}%`;
}

/** A message as a page shows it: the same ones serve the command line, whose lines begin small. */
export function sentence(text: string): string {
  const upper = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?)]$/.test(upper) ? upper : `${upper}.`;
}

const UNEVEN = /[^\S ]|^ | {2}| $|\p{Cc}/u;

/** A text on one line, white space and control characters folded, cut to a number of UTF-16 units. */
export function oneLine(text: string, most: number): string {
  const line = UNEVEN.test(text) ? text.replace(/[\p{Cc}\s]+/gu, " ").trim() : text;
  return line.length <= most ? line : `${line.slice(0, most - 1).toWellFormed()}…`;
}
