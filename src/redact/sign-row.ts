/**
 * Rows of one repeated character, which data is full of, as base64 is of zeros. A form that begins with such a row is looked for only at
 * the row's beginning.
 */

/** How far before a window's end a mark may begin at most for rows to be passed over. */
export const MAX_BACK = 64;

/** The key of a window of one repeated character. */
export const rowOf = (code: number): number => Math.imul(code, 0x01010101);

/** Length of the row of one repeated character up to a place, counted up to `most`. */
export function rowBefore(bytes: Uint8Array, at: number, most: number): number {
  let row = 1;
  while (row < most && bytes[at - row] === bytes[at]) row++;
  return row;
}

/**
 * How many places a row of one repeated character goes on from a place, if it has `length` before it already; none otherwise.
 * @param length of the row before the place
 * @param to where the stretch ends
 */
export function rowPassed(text: string, at: number, length: number, to: number): number {
  const code = text.charCodeAt(at);
  for (let before = at - 1; before >= at - length; before--) if (text.charCodeAt(before) !== code) return 0;
  let after = at + 1;
  while (after < to && text.charCodeAt(after) === code) after++;
  return after - at;
}
