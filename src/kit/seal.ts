import { createCipheriv, createDecipheriv } from "node:crypto";
import type { Random } from "./random.ts";

/*
 * Values that a browser keeps for the server before sign-in, so that nothing is stored for strangers. They are sealed with AES-256-GCM
 * (NIST SP 800-38D): a browser can neither read nor forge them.
 */

const CIPHER = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** @param key 32 bytes @returns base64url */
export function seal(key: Buffer, random: Random, value: unknown): string {
  const iv = random(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv);
  const sealed = Buffer.concat([cipher.update(JSON.stringify(value), "utf8"), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString("base64url");
}

/** Opens what `seal` made with the same key; undefined for anything else. */
export function unseal(key: Buffer, sealed: string | undefined): unknown {
  const bytes = Buffer.from(sealed ?? "", "base64url");
  if (bytes.length <= IV_BYTES + TAG_BYTES) return undefined;
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  try {
    return JSON.parse(
      decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, "utf8") + decipher.final("utf8"),
    );
  } catch {
    return undefined;
  }
}
