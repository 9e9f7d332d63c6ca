import type { Clock } from "./clock.ts";
import type { Random } from "./random.ts";

/** Crockford's base32 without I, L, O and U; sorts like the bytes it spells. */
export const BASE32 = "0123456789abcdefghjkmnpqrstvwxyz";

export type IdPrefix =
  | "team"
  | "usr"
  | "dev"
  | "req"
  | "pack"
  | "ses"
  | "lnk"
  | "inv"
  | "cli"
  | "rtk"
  | "atk"
  | "era"
  | "hold"
  | "evt"
  | "msg"
  | "chn"
  | "sso"
  | "fac"
  | "bgt"
  | "view"
  | "stk"
  | "scu"
  | "scg";

/** Spells bytes in base32, most significant bit first. @param alphabet 32 characters */
export function base32(bytes: Uint8Array, alphabet = BASE32): string {
  let text = "";
  let bits = 0;
  let pending = 0;
  for (const byte of bytes) {
    pending = (pending << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += alphabet[(pending >>> bits) & 31];
    }
    pending &= (1 << bits) - 1;
  }
  return bits > 0 ? text + alphabet[(pending << (5 - bits)) & 31] : text;
}

/**
 * Makes an id: a prefix and a UUIDv7 (RFC 9562 section 5.7) in base32, so ids sort by creation time and are URL-safe.
 * @returns e.g. `team_06ba2m…` (26 characters after the prefix).
 */
export function newId(prefix: IdPrefix, clock: Clock, random: Random): string {
  const bytes = random(16);
  const at = clock.now();
  bytes.writeUIntBE(at, 0, 6);
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x70;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  return `${prefix}_${base32(bytes)}`;
}
