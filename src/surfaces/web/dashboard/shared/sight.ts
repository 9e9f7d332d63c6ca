import { slot } from "../../../../core.ts";
import { type Device, findDeviceOf, listDevices } from "../../../../identity/devices/devices.ts";
import { sourcesOf } from "../../../../identity/ownership/ownership.ts";
import { fail, notFound } from "../../../../kit/problem.ts";
import type { Member } from "./call.ts";
import { NOBODY } from "./people.ts";

/**
 * Whose record somebody sees: the team's, or what their own devices sent, as those are assigned now. All that a page with `narrows` shows
 * has passed through here.
 */

/** Whether somebody sees only what their own devices sent. */
export const seesOwn = ({ session }: Member): boolean => session.team.role === "own_only";

/** Looked up once for a page: each of its parts asks, and there may be tens of thousands of devices. */
const ofPages = slot(() => new WeakMap<Member, Device[]>());

/** The devices whose record whoever looks sees; only their own are looked up where they see no others. */
export function devicesSeen(call: Member): readonly Device[] {
  const known = ofPages(call.core).get(call);
  if (known) return known;
  const devices = listDevices(call.core, call.session.team.id, seesOwn(call) ? call.session.userId : undefined);
  ofPages(call.core).set(call, devices);
  return devices;
}

/** Their ids; undefined where nothing is narrowed. */
export const deviceIdsSeen = (call: Member): string[] | undefined =>
  seesOwn(call) ? devicesSeen(call).map(({ id }) => id) : undefined;

/** The sources that are a person's, seen or not. @param person as the address has it: `""` for all, `nobody`, an id or an e-mail address */
export const sourcesFor = ({ core, session }: Member, person: string): string[] | undefined =>
  person === "" ? undefined : sourcesOf(core, session.team.id, person === NOBODY ? null : person);

/** Whether the viewer sees what a device sent, by its owner at this moment: a page that stays open asks again and again. */
export const seesDevice = (call: Member, deviceId: string): boolean =>
  !seesOwn(call) || findDeviceOf(call.core, call.session.team.id, deviceId)?.personId === call.session.userId;

/** @throws Problem 404 for something from a device whose record the viewer does not see @param says the same as where there is no such thing */
export function requireSeen(call: Member, deviceId: string | undefined, says: string): void {
  if (deviceId !== undefined && !seesDevice(call, deviceId)) fail(notFound, says);
}
