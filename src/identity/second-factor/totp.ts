import { createHmac, timingSafeEqual } from "node:crypto";
import { SECOND_MS } from "../../kit/clock.ts";
import { base32 } from "../../kit/ids.ts";

/** Codes of authenticator apps: TOTP (RFC 6238) with the parameters that every app supports: SHA-1, 30 seconds and six digits. */

const STEP_MS = 30 * SECOND_MS;
const DIGITS = 6;
/** Bytes of a secret: as many as SHA-1 has (RFC 4226 section 4). */
export const SECRET_BYTES = 20;
/** Clocks of phones are off, and typing takes a while (RFC 6238 section 5.2). */
const TOLERATED_STEPS = 1;
/** The base32 alphabet of RFC 4648 section 6. */
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** The code of a step. */
export function codeAt(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac("sha1", secret).update(counter).digest();
  const offset = (mac.at(-1) as number) & 0x0f;
  const number = mac.readUInt32BE(offset) & 0x7fff_ffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, "0");
}

/**
 * The step that a code belongs to, around an instant.
 * @param after steps up to this one are used up: a code is good once (RFC 6238 section 5.2)
 */
export function stepOf(secret: Buffer, code: string, now: number, after: number | null): number | undefined {
  const typed = code.replace(/\s/g, "");
  if (!/^\d{6}$/.test(typed)) return undefined;
  const current = Math.floor(now / STEP_MS);
  let found: number | undefined;
  for (let step = current - TOLERATED_STEPS; step <= current + TOLERATED_STEPS; step++) {
    const right = timingSafeEqual(Buffer.from(codeAt(secret, step)), Buffer.from(typed));
    if (right && (after === null || step > after)) found ??= step;
  }
  return found;
}

/** A secret as people type it, without padding. */
export const base32Of = (bytes: Uint8Array): string => base32(bytes, ALPHABET);

/** The URI that an app reads from a QR code. @param issuer the installation, as the app lists it @param account the person's address */
export function otpauthUri(secret: Buffer, issuer: string, account: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`;
  return `otpauth://totp/${label}?secret=${base32Of(secret)}&issuer=${encodeURIComponent(issuer)}`;
}
