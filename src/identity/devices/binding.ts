import type { Core } from "../../core.ts";
import { DAY_MS, MINUTE_MS } from "../../kit/clock.ts";
import { newId } from "../../kit/ids.ts";
import { fail, unauthorized } from "../../kit/problem.ts";
import { newToken, tokenDigest } from "../../kit/tokens.ts";
import { type Actor, recordEvent } from "../../platform/audit/audit.ts";
import { findTeam, type Team } from "../teams/teams.ts";
import { type DevicePerson, findTeammate, mayBind } from "./assign.ts";
import { codeDigest, ID_BYTES } from "./codes.ts";
import { codeExpired, codeUsed, teamNotFound } from "./faults.ts";
import { rows } from "./rows.ts";
import { noteSeats } from "./seats.ts";

export const TOKEN_LIFETIME_MS = 90 * DAY_MS;

/** `last_seen_at` is written at most once in this time, so that a busy device costs no extra write for each request. */
const SEEN_EVERY_MS = MINUTE_MS;

export interface Binding {
  readonly deviceId: string;
  readonly deviceToken: string;
  readonly expiresAt: number;
  readonly team: Team;
  /** The person that the machine belongs to now; null for nobody. */
  readonly person: DevicePerson | null;
}

/**
 * Uses a connect code and binds a device to its team, in one transaction: of parallel exchanges as many succeed as it has uses left.
 * @throws Problem teamNotFound (404), codeUsed or codeExpired (400)
 */
export function bindDevice(
  core: Core,
  typedCode: string,
  consentVersion: string,
  label: string | null,
  userAgent: string | null = null,
  ip: string | null = null,
): Promise<Binding> {
  const digest = codeDigest(typedCode);
  if (!digest) return fail(teamNotFound);
  const deviceId = newId("dev", core.clock, core.random);
  const deviceToken = newToken("rkd", core.random);
  return core.store.write(() => {
    const now = core.clock.now();
    const code = rows(core.store).code.get(digest);
    const team = code && findTeam(core, code.teamId);
    if (!code || !team) return fail(teamNotFound);
    if (team.movedTo !== null)
      fail(teamNotFound, `The team moved to ${team.movedTo}: connect the machine there, with the same code.`);
    if (code.consumedAt !== null) fail(codeUsed);
    if (code.expiresAt <= now) fail(codeExpired);
    const person = nextPerson(core, team, code.personId);
    const endsAt = code.bindsForMs === null ? null : now + code.bindsForMs;
    const expiresAt = endsAt ?? now + TOKEN_LIFETIME_MS;
    if (rows(core.store).consumeCode.run({ now, deviceId, digest }).changes === 0) fail(codeUsed);
    const personId = person?.id ?? null;
    rows(core.store).insertDevice.run(deviceId, team.id, label, consentVersion, now, userAgent, personId, endsAt);
    rows(core.store).insertToken.run(tokenDigest(deviceToken), deviceId, now, expiresAt);
    recordEvent(core, deviceActor(deviceId, label, ip), {
      action: "device.connected",
      teamId: team.id,
      target: { kind: "device", id: deviceId, label },
      detail: { code: digest.subarray(0, ID_BYTES).toString("hex"), consentVersion, userAgent, person: person?.email },
    });
    noteSeats(core, team, team, 1);
    return { deviceId, deviceToken, expiresAt, team, person };
  });
}

/**
 * The person that the machine will belong to.
 * @throws Problem codeExpired (400) when they have left meanwhile, or may not connect any more
 */
function nextPerson(core: Core, team: Team, personId: string | null): DevicePerson | null {
  if (personId === null) return null;
  const person = findTeammate(core, team.id, personId);
  if (!person || person.disabledAt !== null || !mayBind(core, team, person.id)) return fail(codeExpired);
  return person;
}

/** The message for a device whose binding has ended. */
export const disconnected = "The device was disconnected; connect it again with a new code.";

/**
 * Notes that a device was heard of; call inside the transaction that stores its delivery. The body may have taken long to arrive after the
 * token was judged: content stored after an erasure had ended the binding would stay.
 * @param userAgent the name of its program, as `readUserAgent` gives it; null leaves the known one
 * @throws Problem unauthorized (401) once its binding has ended
 */
export function touchDevice(
  core: Core,
  device: { readonly deviceId: string; readonly lastSeenAt: number | null },
  now: number,
  userAgent: string | null = null,
): void {
  if (rows(core.store).revokedAt.get(device.deviceId) !== null) fail(unauthorized, disconnected);
  if (device.lastSeenAt === null || now - device.lastSeenAt >= SEEN_EVERY_MS || now < device.lastSeenAt)
    rows(core.store).touchDevice.run(now, userAgent, device.deviceId);
}

/** Ends a binding and records who did; call inside a transaction. @returns false when it had ended before */
export function endBinding(
  core: Core,
  device: { readonly id: string; readonly teamId: string; readonly label: string | null },
  by: Actor,
  action: "device.revoked" | "device.disconnected",
): boolean {
  const { id, teamId, label } = device;
  if (rows(core.store).revokeDevice.run(core.clock.now(), id).changes === 0) return false;
  recordEvent(core, by, { action, teamId, target: { kind: "device", id, label } });
  return true;
}

/** A device that acts for itself. */
export const deviceActor = (id: string, label: string | null, ip: string | null): Actor => ({
  kind: "device",
  id,
  label: label ?? id,
  ip,
});

/** Looks up the team and label of devices, each once. */
export function deviceFinder(core: Core) {
  const known = new Map<string, { readonly teamId: string; readonly label: string | null } | undefined>();
  return (deviceId: string) => known.getOrInsertComputed(deviceId, () => rows(core.store).nameOf.get(deviceId));
}

/** Rows with the label of the device that each names. */
export function withDeviceLabels<Row extends { readonly deviceId: string }>(
  core: Core,
  list: readonly Row[],
): (Row & { readonly deviceLabel: string | null })[] {
  const deviceOf = deviceFinder(core);
  return list.map((row) => ({ ...row, deviceLabel: deviceOf(row.deviceId)?.label ?? null }));
}
