import type { Core } from "../../core.ts";
import { conflict, fail, notFound } from "../../kit/problem.ts";
import { type Actor, recordEvent } from "../../platform/audit/audit.ts";
import { roleIn } from "../members/members.ts";
import { findUser, findUsers, type ListedUser } from "../people/people.ts";
import { getTeam, type Team } from "../teams/teams.ts";
import { type DeviceRow, rows } from "./rows.ts";

/** The person that a device belongs to. */
export type DevicePerson = Pick<ListedUser, "id" | "email" | "name" | "disabledAt">;

/** Somebody in a team, by id or e-mail address; undefined for anybody else. */
export function findTeammate(core: Core, teamId: string, idOrEmail: string): DevicePerson | undefined {
  const user = findUser(core, idOrEmail);
  if (!user || roleIn(core, teamId, user.id) === undefined) return undefined;
  const { id, email, name, disabledAt } = user;
  return { id, email, name, disabledAt };
}

/**
 * Whether a person may connect machines of their own: owners and admins always; members, and people who see only their own, while the team
 * allows it; viewers never.
 */
export function mayBind(core: Core, { id, bindingClosedAt }: Team, userId: string): boolean {
  const role = roleIn(core, id, userId);
  if (role === "owner" || role === "admin") return true;
  return role !== undefined && role !== "viewer" && bindingClosedAt === null;
}

/** The people of some devices, by id. */
export function peopleOf(core: Core, devices: readonly { readonly personId: string | null }[]) {
  const ids = new Set<string>();
  // Of tens of thousands of devices most belong to nobody.
  for (const { personId } of devices) if (personId !== null) ids.add(personId);
  const users = ids.size === 0 ? [] : findUsers(core, [...ids], "");
  return new Map<string | null, DevicePerson>(users.map((user) => [user.id, user]));
}

/** @param teamId the team that the device must be in; any team when left out @throws Problem 404 */
export function knownDevice(core: Core, deviceId: string, teamId?: string): DeviceRow {
  const device = rows(core.store).device.get(deviceId);
  if (device && (teamId === undefined || device.teamId === teamId)) return device;
  return fail(notFound, `there is no device with the id "${deviceId}" (see: reckon device list)`);
}

/**
 * Assigns a device to a person: its sessions and its spend count as theirs from then on, also what it sent before.
 * @param idOrEmail somebody in the device's team; null for nobody
 * @param teamId the team that the device must be in; any team when left out
 * @returns false when it was so already
 * @throws Problem 404 for an unknown device, 409 for somebody who is not in the team
 */
export function assignDevice(
  core: Core,
  deviceId: string,
  idOrEmail: string | null,
  by: Actor,
  teamId?: string,
): Promise<boolean> {
  return core.store.write(() => {
    const device = knownDevice(core, deviceId, teamId);
    const person = idOrEmail === null ? null : findTeammate(core, device.teamId, idOrEmail);
    if (person === undefined)
      fail(
        conflict,
        // Not by name: whether somebody has an account elsewhere is not told.
        `This person is not in ${getTeam(core, device.teamId).name}, the device's team: invite them there first, or choose somebody who is in it.`,
      );
    if (device.personId === (person?.id ?? null)) return false;
    const from = peopleOf(core, [device]).get(device.personId)?.email ?? null;
    rows(core.store).assignDevice.run(person?.id ?? null, deviceId);
    recordEvent(core, by, {
      action: "device.assigned",
      teamId: device.teamId,
      target: { kind: "device", id: deviceId, label: device.label },
      detail: { from, to: person?.email ?? null },
    });
    return true;
  });
}
