/** Whether a text holds control characters (C0, DEL, C1) or lone surrogates, which no name of anything has. */
export function hasControls(text: string): boolean {
  return /\p{Cc}/u.test(text) || !text.isWellFormed();
}
