import { sha256 } from "../../kit/hash.ts";

/** Digits of a fingerprint that leave the machine. */
const WIRE_DIGITS = 8;

/** A fingerprint as `onWire` writes it. */
export const WIRE_FINGERPRINT = /^[0-9a-f]{8}$/;

/**
 * A text as fingerprints see it: lower case, without punctuation and symbols (Unicode P and S) and without what only serves
 * them or is never seen (selectors, joiners, soft hyphens), white space folded. Composed (NFC), so that the same letters
 * typed in two ways are the same.
 */
export function fold(text: string): string {
  return text
    .toLowerCase()
    .normalize("NFC")
    .replace(/[\p{P}\p{S}\p{Default_Ignorable_Code_Point}]+/gu, "")
    .replace(/\s+/g, " ")
    .trim();
}

/**
 * The fingerprint of a class of defects: SHA-256 of the folded rule; of the title when there is no rule or nothing is left of it.
 * @returns undefined when nothing is left of either
 */
export function fingerprintOf(rule: string | undefined, title: string): Buffer | undefined {
  const text = fold(rule ?? "") || fold(title);
  return text === "" ? undefined : sha256(text);
}

/**
 * For an entry with neither rule nor title: it is a class of its own. No folded text has a NUL in it.
 * @param text the entry's own, with its heading
 * @param number among entries of one file with the same text
 */
export function fingerprintOfNothing(text: string, number: number): Buffer {
  return sha256(`\0${text}\0${number}`);
}

/** A fingerprint as it is sent: its first 8 hexadecimal digits. */
export function onWire(fingerprint: Buffer): string {
  return fingerprint.toString("hex").slice(0, WIRE_DIGITS);
}
