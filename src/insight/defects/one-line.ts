const UNEVEN = /[^\S ]|^ | {2}| $|\p{Cc}/u;

/** A text on one line, white space and control characters folded, cut to a number of UTF-16 units. */
export function oneLine(text: string, most: number): string {
  const line = UNEVEN.test(text) ? text.replace(/[\p{Cc}\s]+/gu, " ").trim() : text;
  return line.length <= most ? line : `${line.slice(0, most - 1).toWellFormed()}…`;
}
