import { type Core, slot } from "../../core.ts";
import { MINUTE_MS } from "../../kit/clock.ts";
import { sameDigest, sha256 } from "../../kit/hash.ts";
import { seal, unseal } from "../../kit/seal.ts";

/** The facts that must match when somebody comes back from an issuer; their browser keeps them, sealed. */
export interface Attempt {
  readonly issuerId: string;
  readonly state: string;
  readonly nonce: string;
  /** The code verifier of PKCE (RFC 7636). */
  readonly verifier: string;
  /** The page to go on to. */
  readonly next: string;
  /** The signed-in person's account that is to be linked; null for signing in. */
  readonly linkTo: string | null;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** How long somebody may take at the issuer. */
export const ATTEMPT_MS = 10 * MINUTE_MS;

/**
 * The key that seals attempts. Nothing is stored for somebody who is not signed in, so nobody can fill a table or push others out of it.
 * The key is this process's own: after a restart, sign-ins begin anew.
 */
const key = slot((core) => core.random(32));

/** @returns a value for a cookie */
export const sealAttempt = (core: Core, attempt: Attempt): string => seal(key(core), core.random, attempt);

/** Opens what `sealAttempt` made; undefined for anything else, and when it is too old. */
export function openAttempt(core: Core, sealed: string | undefined): Attempt | undefined {
  const attempt = unseal(key(core), sealed) as Attempt | undefined;
  return attempt && attempt.expiresAt > core.clock.now() ? attempt : undefined;
}

/** Compares in a time that does not show where the texts differ. */
export const sameText = (a: string, b: string): boolean => sameDigest(sha256(a), sha256(b));
