import { crc32, sha256 } from "./hash.ts";
import { BASE32, base32 } from "./ids.ts";
import type { Random } from "./random.ts";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SECRET_CHARS = 30;
const CHECK_CHARS = 6;

/**
 * `rkd` binds a device, `rkr` reads a brain, `rka` a team's records, `rkp` lets a directory
 * provision people, `rks` is a person's session, `rkl` a one-time link.
 */
export type TokenPrefix = "rkd" | "rkr" | "rka" | "rkp" | "rks" | "rkl";

const SHAPE = /^(rkd|rkr|rka|rkp|rks|rkl)_([0-9A-Za-z]{30})([0-9A-Za-z]{6})$/;

function base62Check(text: string): string {
  let rest = crc32(text);
  let spelled = "";
  for (let i = 0; i < CHECK_CHARS; i++) {
    spelled = BASE62[rest % 62] + spelled;
    rest = Math.floor(rest / 62);
  }
  return spelled;
}

/**
 * Makes an opaque credential: prefix, 30 base62 characters (178 bits) and a CRC-32 of what precedes it, so that leak
 * scanners recognise it and a mistyped one is refused without a look-up.
 */
export function newToken(prefix: TokenPrefix, random: Random): string {
  let secret = "";
  while (secret.length < SECRET_CHARS) {
    for (const byte of random(SECRET_CHARS)) {
      // 248 is the largest multiple of 62 in a byte: beyond it the low letters would come up more often.
      if (byte < 248 && secret.length < SECRET_CHARS) secret += BASE62[byte % 62];
    }
  }
  const body = `${prefix}_${secret}`;
  return body + base62Check(body);
}

/** Whether a text has the form and the check characters of a token of that kind. Says nothing of its existence. */
export function isWellFormedToken(token: string, prefix: TokenPrefix): boolean {
  const match = SHAPE.exec(token);
  return match !== null && match[1] === prefix && base62Check(token.slice(0, -CHECK_CHARS)) === match[3];
}

/** What is stored of a token or code: its SHA-256. */
export function tokenDigest(token: string): Buffer {
  return sha256(token);
}

const CODE_CHARS = 24;

/** Makes a one-time connect code of 120 bits, grouped for reading: `7F3K-…` (six groups of four). */
export function newConnectCode(random: Random): string {
  const spelled = base32(random(15)).toUpperCase();
  return (spelled.match(/.{4}/g) as string[]).join("-");
}

/**
 * Reads a connect code as a person may type it: any case, dashes and spaces anywhere, O for 0, I and L for 1.
 * @returns the canonical spelling without dashes, or undefined when it cannot be a code of ours.
 */
export function normalizeConnectCode(typed: string): string | undefined {
  if (typed.length > 128) return undefined;
  const plain = typed.replace(/[\s-]/g, "").toLowerCase().replaceAll("o", "0").replace(/[il]/g, "1");
  if (plain.length !== CODE_CHARS) return undefined;
  for (const char of plain) if (!BASE32.includes(char)) return undefined;
  return plain.toUpperCase();
}
