/** Rows of one sign, which data is full of, as zeros are in base64: what begins with such a row is asked for at its beginning alone. */

/** Further before the end of a window no mark begins for which rows are passed over. */
export const MAX_BACK = 64;

/** The key of a window of one sign. */
export const rowOf = (code: number): number => Math.imul(code, 0x01010101);

/** How long the row of one sign is that goes up to a place, as far as it is looked at. */
export function rowBefore(bytes: Uint8Array, at: number, most: number): number {
  let row = 1;
  while (row < most && bytes[at - row] === bytes[at]) row++;
  return row;
}

/**
 * How many places a row of one sign goes on from a place, if it is that long before it already; none otherwise.
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
