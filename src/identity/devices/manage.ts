import type { Core } from "../../core.ts";
import { withoutMisleading } from "../../kit/escape-invisible.ts";
import { type Actor, recordEvent } from "../../platform/audit/audit.ts";
import { redactText } from "../../redact/redact.ts";
import { type DevicePerson, knownDevice, peopleOf } from "./assign.ts";
import { endBinding } from "./binding.ts";
import { deviceRows, rowsOfPerson } from "./roster.ts";
import { type DeviceRow, rows } from "./rows.ts";

/** A device as people see it. */
export interface Device extends DeviceRow {
  /** `expired`: its token ran out before it was rotated, or its one job is over; it must be connected again. */
  readonly status: "active" | "expired" | "revoked";
  /** The person that the machine belongs to; null for nobody. */
  readonly person: DevicePerson | null;
  /**
   * For a device that can report: when it was last heard of, or else when it was connected. Null for all others, and for machines of one
   * job, whose silence means nothing.
   */
  readonly silentSince: number | null;
}

function rowsMeant(core: Core, teamId: string | undefined, personId: string | undefined): readonly DeviceRow[] {
  if (personId === undefined) return deviceRows(core, teamId);
  return rowsOfPerson(core, personId).filter((one) => teamId === undefined || one.teamId === teamId);
}

/**
 * A team's devices, or those of all teams, in the order in which they were bound.
 * @param personId only devices of this person
 * @param status only devices with this status
 */
export function listDevices(core: Core, teamId?: string, personId?: string, status?: Device["status"]): Device[] {
  const devices = shown(core, rowsMeant(core, teamId, personId));
  return status === undefined ? devices : devices.filter((one) => one.status === status);
}

/** Devices looked at in one go. */
const PORTION = 500;

/** As `listDevices`, in portions, between which others may get their turn. The list is taken when the first portion is asked for. */
export function* devicesInPortions(core: Core, teamId?: string, personId?: string): Generator<readonly Device[]> {
  const all = rowsMeant(core, teamId, personId);
  for (let from = 0; from < all.length; from += PORTION) yield shown(core, all.slice(from, from + PORTION));
}

/** Ends the bindings of a person's devices that can report; call inside a transaction. @param teamId only devices of this team */
export function revokeDevicesOf(core: Core, personId: string, by: Actor, teamId?: string): void {
  for (const device of listDevices(core, teamId, personId, "active")) endBinding(core, device, by, "device.revoked");
}

/** One device of a team as people see it. @returns undefined when the team has no such device */
export function findDeviceOf(core: Core, teamId: string, deviceId: string): Device | undefined {
  const row = rows(core.store).device.get(deviceId);
  return row?.teamId === teamId ? shown(core, [row])[0] : undefined;
}

/**
 * The ids of all devices of a team, or of a person in whatever team, in any state. Reads only the database, so it can be used while that is
 * walked through.
 */
export const deviceIdsOf = (core: Core, of: { readonly teamId: string } | { readonly personId: string }): string[] =>
  "teamId" in of ? rows(core.store).idsOfTeam.all(of.teamId) : rows(core.store).idsOfPerson.all(of.personId);

function shown(core: Core, devices: readonly DeviceRow[]): Device[] {
  const now = core.clock.now();
  const people = peopleOf(core, devices);
  return devices.map((row) => {
    const expired = row.tokenExpiresAt !== null && row.tokenExpiresAt <= now;
    const status = expired ? "expired" : "active";
    return {
      ...row,
      status: row.revokedAt === null ? status : "revoked",
      person: people.get(row.personId) ?? null,
      silentSince: row.revokedAt === null && !expired && row.endsAt === null ? (row.lastSeenAt ?? row.createdAt) : null,
    };
  });
}

const MAX_LABEL_CHARS = 200;

/**
 * Gives a device of a team another label, without secrets and invisible characters; a blank one removes the label.
 * @returns false when the team has no such device
 */
export function renameDevice(core: Core, teamId: string, deviceId: string, label: string, by: Actor): Promise<boolean> {
  const printable = withoutMisleading(label.toWellFormed().replace(/\p{Cc}+/gu, " ")).trim();
  const clean = redactText(printable).text.slice(0, MAX_LABEL_CHARS).toWellFormed() || null;
  return core.store.write(() => {
    const device = rows(core.store).device.get(deviceId);
    if (device?.teamId !== teamId) return false;
    if (device.label === clean) return true;
    rows(core.store).renameDevice.run(clean, deviceId, teamId);
    recordEvent(core, by, {
      action: "device.renamed",
      teamId,
      target: { kind: "device", id: deviceId, label: clean },
      detail: { from: device.label, to: clean },
    });
    return true;
  });
}

/**
 * Ends a device's binding.
 * @param teamId the team that the device must be in; any team when left out
 * @returns false when it had ended before
 * @throws Problem 404 for an unknown device
 */
export function revokeDevice(core: Core, deviceId: string, by: Actor, teamId?: string): Promise<boolean> {
  return core.store.write(() => endBinding(core, knownDevice(core, deviceId, teamId), by, "device.revoked"));
}
