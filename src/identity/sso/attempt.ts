import { type Core, slot } from "../../core.ts";
import { MINUTE_MS } from "../../kit/clock.ts";
import { sameDigest, sha256 } from "../../kit/hash.ts";
import { seal, unseal } from "../../kit/seal.ts";

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

/**
 * Seals what an attempt has to keep. Nothing is stored for somebody who is not signed in, so nobody can fill a table or push others
 * out of it. The key is this process's own: after a restart one begins anew.
 */
const key = slot((core) => core.random(32));

/** @returns a value for a cookie */
export const sealAttempt = (core: Core, attempt: Attempt): string => seal(key(core), core.random, attempt);

/** Opens what `sealAttempt` made; undefined for anything else, and for what is too old. */
export function openAttempt(core: Core, sealed: string | undefined): Attempt | undefined {
  const attempt = unseal(key(core), sealed) as Attempt | undefined;
  return attempt && attempt.expiresAt > core.clock.now() ? attempt : undefined;
}

/** Compares without telling by time where they differ. */
export const sameText = (a: string, b: string): boolean => sameDigest(sha256(a), sha256(b));
