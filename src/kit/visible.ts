/** Not seen, or turning the direction of what follows: such a sign could make a text look like another. Joiners too. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]/gu;

/** Whether a text holds signs that cannot be seen: controls, directions, joiners, fillers. */
export const hasUnseen = (text: string): boolean => text.search(UNSEEN) !== -1;

/** A short text with every sign that cannot be seen spelled out, as in `⟨U+202E⟩`. For names of files that others chose. */
export const visible = (text: string): string =>
  text
    .toWellFormed()
    .replace(UNSEEN, (sign) => `⟨U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
