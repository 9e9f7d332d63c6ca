import type { Random } from "../../kit/random.ts";

/** Letters that make no words and that no one takes for another (RFC 8628 section 6.1). */
const LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
const LENGTH = 8;

const shown = (letters: string) => `${letters.slice(0, 4)}-${letters.slice(4)}`;

/** Makes a user code of 8 letters (34 bits), grouped for reading: `WDJB-MJHT`. */
export function newUserCode(random: Random): string {
  let letters = "";
  while (letters.length < LENGTH) {
    for (const byte of random(LENGTH)) {
      // 240 is the largest multiple of 20 in a byte: beyond it the first letters would come up more often.
      if (byte < 240 && letters.length < LENGTH) letters += LETTERS[byte % 20];
    }
  }
  return shown(letters);
}

/**
 * Reads a user code as a person may type it: any case, dashes and spaces anywhere.
 * @returns it as `newUserCode` spells it, or undefined when it cannot be one of ours
 */
export function readUserCode(typed: string): string | undefined {
  if (typed.length > 64) return undefined;
  const letters = typed.replace(/[\s\p{Pd}]/gu, "");
  // Upper case only once the letters are known to be ASCII: elsewhere it changes lengths.
  return /^[BCDFGHJKLMNPQRSTVWXZ]{8}$/i.test(letters) ? shown(letters.toUpperCase()) : undefined;
}
