import { createHmac, hash, timingSafeEqual } from "node:crypto";

/** SHA-256 (FIPS 180-4) of text (as UTF-8) or bytes. */
export function sha256(data: string | Uint8Array): Buffer {
  // By way of text, because a buffer of the library's own is made outside of the heap, which takes longer than the hash.
  return Buffer.from(hash("sha256", data, "latin1"), "latin1");
}

/** The same in 64 hexadecimal digits. */
export function sha256Hex(data: string | Uint8Array): string {
  return hash("sha256", data, "hex");
}

/** HMAC-SHA-256 (RFC 2104) of text (as UTF-8) or bytes. */
export function hmacSha256(key: Uint8Array, data: string | Uint8Array): Buffer {
  return createHmac("sha256", key).update(data).digest();
}

/** Compares two digests in time that does not depend on where they differ. */
export function sameDigest(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/** CRC-32 of the ASCII bytes of a text (polynomial 0xEDB88320, as in gzip, RFC 1952 section 8), unsigned. */
export { crc32 } from "node:zlib";
