import { createCipheriv, createDecipheriv } from "node:crypto";
import { type Core, slot } from "../../core.ts";
import { MINUTE_MS } from "../../kit/clock.ts";
import { sameDigest, sha256 } from "../../kit/hash.ts";

/** What must be the same when somebody comes back from an issuer; their browser keeps it, sealed. */
export interface Attempt {
  readonly issuerId: string;
  readonly state: string;
  readonly nonce: string;
  /** Of PKCE (RFC 7636). */
  readonly verifier: string;
  /** Where to go on. */
  readonly next: string;
  /** The account that is to be linked, of somebody who is signed in; null for signing in. */
  readonly linkTo: string | null;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** How long somebody may take at the issuer. */
export const ATTEMPT_MS = 10 * MINUTE_MS;

const CIPHER = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Seals what an attempt has to keep. Nothing is stored for somebody who is not signed in, so nobody can fill a table or push others
 * out of it. The key is this process's own: after a restart one begins anew.
 */
const key = slot((core) => core.random(32));

/** @returns a value for a cookie */
export function sealAttempt(core: Core, attempt: Attempt): string {
  const iv = core.random(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key(core), iv);
  const sealed = Buffer.concat([cipher.update(JSON.stringify(attempt), "utf8"), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString("base64url");
}

/** Opens what `sealAttempt` made; undefined for anything else, and for what is too old. */
export function openAttempt(core: Core, sealed: string | undefined): Attempt | undefined {
  const bytes = Buffer.from(sealed ?? "", "base64url");
  if (bytes.length <= IV_BYTES + TAG_BYTES) return undefined;
  const decipher = createDecipheriv(CIPHER, key(core), bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  try {
    const text = decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, "utf8") + decipher.final("utf8");
    const attempt = JSON.parse(text) as Attempt;
    return attempt.expiresAt > core.clock.now() ? attempt : undefined;
  } catch {
    return undefined;
  }
}

/** Compares without telling by time where they differ. */
export const sameText = (a: string, b: string): boolean => sameDigest(sha256(a), sha256(b));
