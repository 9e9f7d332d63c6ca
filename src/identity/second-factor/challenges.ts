import { type Core, slot } from "../../core.ts";
import { MINUTE_MS } from "../../kit/clock.ts";
import { seal, unseal } from "../../kit/seal.ts";

/** How long somebody may take for a second factor, or for setting one up. */
export const PENDING_MS = 5 * MINUTE_MS;
const CHALLENGE_BYTES = 32;

/** The newest challenge of each person, so that one answer counts once (Web Authentication Level 3, section 13.4.3). */
const challenges = slot((): Map<string, { readonly challenge: string; readonly until: number }> => new Map());

/** Makes a challenge for a person's authenticator; the former one is void. @param purpose of the answer */
export function newChallenge(core: Core, userId: string, purpose: "create" | "get"): string {
  const challenge = core.random(CHALLENGE_BYTES).toString("base64url");
  challenges(core).set(`${purpose} ${userId}`, { challenge, until: core.clock.monotonic() + PENDING_MS });
  return challenge;
}

/** Gives a person's challenge and makes it void, whatever the answer. */
export function takeChallenge(core: Core, userId: string, purpose: "create" | "get"): string | undefined {
  const open = challenges(core);
  const found = open.get(`${purpose} ${userId}`);
  open.delete(`${purpose} ${userId}`);
  return found && found.until > core.clock.monotonic() ? found.challenge : undefined;
}

/** A key of this process: after a restart, pending sign-ins begin again with the password. */
const key = slot((core) => core.random(32));

interface Sealed {
  readonly what: string;
  readonly value: unknown;
  readonly expiresAt: number;
}

/** Seals a value that a browser keeps for five minutes. @param what the purpose */
export const sealPending = (core: Core, what: string, value: unknown): string =>
  seal(key(core), core.random, { what, value, expiresAt: core.clock.now() + PENDING_MS } satisfies Sealed);

/** Opens a value sealed for the same purpose; undefined for anything else, and when it is too old. */
export function openPending<Value>(core: Core, what: string, sealed: string | undefined): Value | undefined {
  const opened = unseal(key(core), sealed) as Sealed | undefined;
  return opened?.what === what && opened.expiresAt > core.clock.now() ? (opened.value as Value) : undefined;
}
