import type { Core } from "../../core.ts";
import { DAY_MS, isoInstant, MINUTE_MS } from "../../kit/clock.ts";
import { conflict, fail } from "../../kit/problem.ts";
import { newConnectCode, normalizeConnectCode, tokenDigest } from "../../kit/tokens.ts";
import { type Actor, recordEvent } from "../../platform/audit/audit.ts";
import { makers } from "../people/people.ts";
import { findTeam } from "../teams/teams.ts";
import { type OpenCode, rows } from "./rows.ts";

export interface ConnectCode {
  /** Shown once; only its SHA-256 is stored. */
  readonly code: string;
  /** Identifies the code without revealing it, as `listOpenCodes` does. */
  readonly id: string;
  readonly teamId: string;
  readonly expiresAt: number;
  /** How many machines it may connect. */
  readonly uses: number;
  /** For how long it binds each machine, in milliseconds; null for machines that renew their tokens. */
  readonly bindsForMs: number | null;
}

/** Bounds on connect codes. */
export const CODE_LIMITS = {
  /** How long a code for one machine works by default, and at most: until it is used, it lies in chats and terminals. */
  lifetimeMs: 15 * MINUTE_MS,
  maxLifetimeMs: DAY_MS,
  /**
   * Codes for a fleet, which are kept in the tool that sets machines up: days that they work, machines for each, and codes made at once, at
   * most.
   */
  maxFleetDays: 90,
  maxUses: 100_000,
  maxAtOnce: 1_000,
  /** How long a machine that lives for one job is bound. */
  minBindingMs: MINUTE_MS,
  maxBindingMs: 7 * DAY_MS,
  /** Open codes that a page lists. */
  listed: 200,
} as const;

/**
 * Mints a connect code for one machine of a team.
 * @param by who mints it; people are shown their name
 * @param lifetimeMs how long it may be exchanged
 * @param personId the person who gets the machine that is connected with it; null for nobody
 */
export function createCode(
  core: Core,
  teamId: string,
  by: Actor,
  lifetimeMs: number = CODE_LIMITS.lifetimeMs,
  personId: string | null = null,
): Promise<ConnectCode> {
  return core.store.write(() => storeCode(core, teamId, { lifetimeMs, uses: 1, personId, bindsForMs: null }, by));
}

/** Codes for machines that are set up in numbers, within `CODE_LIMITS`. */
export interface FleetCodes {
  readonly count: number;
  /** How many machines each may connect. */
  readonly uses: number;
  readonly lifetimeMs: number;
  /** For how long it binds machines that live for one job: none renews its token beyond that. Null for machines that stay. */
  readonly bindsForMs: number | null;
}

/** Mints codes, all of them or none. Their machines belong to nobody until they are assigned. */
export function createFleetCodes(
  core: Core,
  teamId: string,
  { count, ...how }: FleetCodes,
  by: Actor,
): Promise<ConnectCode[]> {
  return core.store.write(() =>
    Array.from({ length: count }, () => storeCode(core, teamId, { ...how, personId: null }, by)),
  );
}

function storeCode(
  core: Core,
  teamId: string,
  { lifetimeMs, uses, personId, bindsForMs }: Omit<FleetCodes, "count"> & { readonly personId: string | null },
  by: Actor,
): ConnectCode {
  const team = findTeam(core, teamId);
  // The other server took the team over without codes that are made here later.
  if (team?.movedTo) fail(conflict, `${team.name} moved to ${team.movedTo}: make codes there.`);
  const code = newConnectCode(core.random);
  const digest = codeDigest(code) as Buffer;
  const id = digest.subarray(0, ID_BYTES).toString("hex");
  const now = core.clock.now();
  const expiresAt = now + lifetimeMs;
  const createdBy = makers.of(by);
  rows(core.store).insertCode.run({ digest, teamId, now, expiresAt, createdBy, personId, uses, bindsForMs });
  recordEvent(core, by, {
    action: "code.created",
    teamId,
    target: { kind: "code", id },
    detail: { expiresAt: isoInstant(expiresAt), ...(uses > 1 && { uses }), ...(bindsForMs !== null && { bindsForMs }) },
  });
  return { code, id, teamId, expiresAt, uses, bindsForMs };
}

/** Bytes of a code's digest that serve as its id. */
export const ID_BYTES = 8;

/** The digest under which a code is stored, however it was typed; undefined when it cannot be a code of ours. */
export function codeDigest(typed: string): Buffer | undefined {
  const canonical = normalizeConnectCode(typed);
  return canonical === undefined ? undefined : tokenDigest(canonical);
}

/**
 * A team's codes that can still be exchanged, the one that expires last first.
 * @param personId only codes for machines of this person
 */
export function listOpenCodes(
  core: Core,
  teamId: string,
  personId: string | null = null,
  limit: number = CODE_LIMITS.listed,
): OpenCode[] {
  const codes = rows(core.store).openCodes.all({ teamId, now: core.clock.now(), personId, limit });
  return codes.map((code) => ({ ...code, createdBy: code.createdBy && makers.called(core, code.createdBy) }));
}

/**
 * Ends a code before its time.
 * @param id as `listOpenCodes` names it
 * @param personId only if the code is for machines of this person
 * @returns false when there is no such open code
 */
export async function revokeCode(
  core: Core,
  teamId: string,
  id: string,
  by: Actor,
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
