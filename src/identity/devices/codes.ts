import type { Core } from "../../core.ts";
import { isoInstant, MINUTE_MS } from "../../kit/clock.ts";
import { newConnectCode, normalizeConnectCode, tokenDigest } from "../../kit/tokens.ts";
import { type Actor, COMMAND_LINE, recordEvent } from "../../platform/audit/audit.ts";
import { type OpenCode, rows } from "./rows.ts";

export interface ConnectCode {
  /** Shown once; only its SHA-256 is stored. */
  readonly code: string;
  readonly teamId: string;
  readonly expiresAt: number;
}

export const CODE_LIFETIME_MS = 15 * MINUTE_MS;

/**
 * Mints a one-time connect code for a team.
 * @param lifetimeMs how long it may be exchanged
 * @param by who mints it; people are shown their name
 * @param personId whose the machine becomes that is connected with it; null for nobody's
 */
export async function createCode(
  core: Core,
  teamId: string,
  lifetimeMs = CODE_LIFETIME_MS,
  by: Actor = COMMAND_LINE,
  personId: string | null = null,
): Promise<ConnectCode> {
  const code = newConnectCode(core.random);
  const digest = codeDigest(code) as Buffer;
  const now = core.clock.now();
  const expiresAt = now + lifetimeMs;
  await core.store.write(() => {
    rows(core.store).insertCode.run(digest, teamId, now, expiresAt, by.label, personId);
    const id = digest.subarray(0, ID_BYTES).toString("hex");
    recordEvent(core, by, {
      action: "code.created",
      teamId,
      target: { kind: "code", id },
      detail: { expiresAt: isoInstant(expiresAt) },
    });
  });
  return { code, teamId, expiresAt };
}

/** How much of a code's digest names it. */
export const ID_BYTES = 8;

/** The digest under which a code is stored, however it was typed; undefined when it cannot be a code of ours. */
export function codeDigest(typed: string): Buffer | undefined {
  const canonical = normalizeConnectCode(typed);
  return canonical === undefined ? undefined : tokenDigest(canonical);
}

/**
 * A team's codes that can still be exchanged, the one that expires last first; 200 at most.
 * @param personId only those that make machines this person's
 */
export function listOpenCodes(core: Core, teamId: string, personId: string | null = null): OpenCode[] {
  return rows(core.store).openCodes.all({ teamId, now: core.clock.now(), personId });
}

/**
 * Ends a code before its time.
 * @param id as `listOpenCodes` names it
 * @param personId only when it makes machines this person's
 * @returns false when there is no such open code
 */
export async function revokeCode(
  core: Core,
  teamId: string,
  id: string,
  by: Actor = COMMAND_LINE,
  personId: string | null = null,
): Promise<boolean> {
  if (!/^[0-9a-f]{16}$/.test(id)) return false;
  return core.store.write(() => {
    const now = core.clock.now();
    if (rows(core.store).expireCode.run({ teamId, now, personId, id: Buffer.from(id, "hex") }).changes === 0)
      return false;
    recordEvent(core, by, { action: "code.revoked", teamId, target: { kind: "code", id } });
    return true;
  });
}
