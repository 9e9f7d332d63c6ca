import type { Core } from "../../core.ts";
import { findDeviceOf } from "../../identity/devices/devices.ts";
import { MAX_ERASED_ROWS } from "../../kit/erase-steps.ts";
import { fail, unauthorized } from "../../kit/problem.ts";
import { type DeviceReadRow, rows } from "./rows.ts";

/** Reads kept of a device: its newest. An agent asks some dozens of times a day. */
const KEPT = 1_000;
const SHOWN = 50;

export type DeviceRead = DeviceReadRow;

/**
 * Records what a device's agent asks, without its words; what was found may be shown once this has resolved.
 * @throws Problem unauthorized when the device was revoked while it was asking
 */
export async function recordDeviceRead(
  core: Core,
  { teamId, deviceId }: { readonly teamId: string; readonly deviceId: string },
  { tool, total, shown, ip }: Omit<DeviceRead, "at">,
): Promise<void> {
  await core.store.write(() => {
    const device = findDeviceOf(core, teamId, deviceId);
    if (!device || device.revokedAt !== null) fail(unauthorized, "The bearer token is not valid.");
    const sql = rows(core.store);
    sql.insertOfDevice.run(deviceId, core.clock.now(), tool, total, shown, ip);
    sql.boundOfDevice.run({ deviceId, kept: KEPT });
  });
}

/** What a device's agents asked, newest first; 50 at most. */
export const listDeviceReads = (core: Core, deviceId: string): DeviceRead[] =>
  rows(core.store).ofDevice.all(deviceId, SHOWN);

/** Row change: a device's reads up to an instant; all without one. @returns how many went */
export const eraseDeviceReads = (core: Core, deviceId: string, until = Number.MAX_SAFE_INTEGER): number =>
  rows(core.store).dropOfDevice.run(deviceId, until, MAX_ERASED_ROWS).changes;
