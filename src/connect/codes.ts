import type { Core } from "../core.ts";
import { MINUTE_MS } from "../kit/clock.ts";
import { newConnectCode, normalizeConnectCode, tokenDigest } from "../kit/tokens.ts";
import { rows } from "./rows.ts";

export interface ConnectCode {
  /** Shown once; only its SHA-256 is stored. */
  readonly code: string;
  readonly teamId: string;
  readonly expiresAt: number;
}

export const CODE_LIFETIME_MS = 15 * MINUTE_MS;

/** Mints a one-time connect code for a team. @param lifetimeMs how long it may be exchanged */
export async function createCode(core: Core, teamId: string, lifetimeMs = CODE_LIFETIME_MS): Promise<ConnectCode> {
  const code = newConnectCode(core.random);
  const now = core.clock.now();
  await core.store.write(() =>
    rows(core.store).insertCode.run(codeDigest(code) as Buffer, teamId, now, now + lifetimeMs),
  );
  return { code, teamId, expiresAt: now + lifetimeMs };
}

/** The digest under which a code is stored, however it was typed; undefined when it cannot be a code of ours. */
export function codeDigest(typed: string): Buffer | undefined {
  const canonical = normalizeConnectCode(typed);
  return canonical === undefined ? undefined : tokenDigest(canonical);
}
