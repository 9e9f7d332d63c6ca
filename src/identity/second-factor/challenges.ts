import { type Core, slot } from "../../core.ts";
import { MINUTE_MS } from "../../kit/clock.ts";
import { seal, unseal } from "../../kit/seal.ts";

/** How long somebody may take for a second factor, or for setting one up. */
export const PENDING_MS = 5 * MINUTE_MS;
const CHALLENGE_BYTES = 32;

/** The newest challenge of each person, so that one answer counts once (Web Authentication Level 3, section 13.4.3). */
const challenges = slot((): Map<string, { readonly challenge: string; readonly until: number }> => new Map());

/** A challenge for a person's authenticator; the one before is void. @param purpose what the answer will be good for */
export function newChallenge(core: Core, userId: string, purpose: "create" | "get"): string {
  const open = challenges(core);
  const now = core.clock.monotonic();
  for (const [key, { until }] of open) if (until <= now) open.delete(key);
  const challenge = core.random(CHALLENGE_BYTES).toString("base64url");
  open.set(`${purpose} ${userId}`, { challenge, until: now + PENDING_MS });
  return challenge;
}

/** Takes a person's challenge: it is void from now on, whatever the answer. */
export function takeChallenge(core: Core, userId: string, purpose: "create" | "get"): string | undefined {
  const open = challenges(core);
  const found = open.get(`${purpose} ${userId}`);
  open.delete(`${purpose} ${userId}`);
  return found && found.until > core.clock.monotonic() ? found.challenge : undefined;
}

/** Of this process: who has to start again after a restart types a password once more. */
const key = slot((core) => core.random(32));

interface Sealed {
  readonly what: string;
  readonly value: unknown;
  readonly expiresAt: number;
}

/** Seals what a browser keeps for five minutes. @param what it is good for */
export const sealPending = (core: Core, what: string, value: unknown): string =>
  seal(key(core), core.random, { what, value, expiresAt: core.clock.now() + PENDING_MS } satisfies Sealed);

/** Opens what was sealed for the same purpose; undefined for anything else, and for what is too old. */
export function openPending<Value>(core: Core, what: string, sealed: string | undefined): Value | undefined {
  const opened = unseal(key(core), sealed) as Sealed | undefined;
  return opened?.what === what && opened.expiresAt > core.clock.now() ? (opened.value as Value) : undefined;
}
