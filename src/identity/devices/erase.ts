import type { Core } from "../../core.ts";
import { MAX_ERASED_ROWS } from "../../kit/erase-steps.ts";
import type { Actor } from "../../platform/audit/audit.ts";
import type { ErasedPerson } from "../people/people.ts";
import { endBinding } from "./binding.ts";
import { rows } from "./rows.ts";

/** The label of an erased device. */
const markOf = (deviceId: string): string => `erased-${deviceId}`;

/** Whether a device of a team was erased. */
export function isErased(core: Core, teamId: string, deviceId = ""): boolean {
  const known = rows(core.store).nameOf.get(deviceId);
  return known?.teamId === teamId && known.label === markOf(deviceId);
}

/** Row change: ends a device's binding, and erases its label. */
function eraseDevice(core: Core, deviceId: string, by: Actor): number {
  const sql = rows(core.store);
  const device = sql.device.get(deviceId);
  if (!device) return 0;
  if (device.revokedAt === null) endBinding(core, { ...device, label: null }, by, "device.revoked");
  return sql.eraseDevice.run({ id: deviceId, mark: markOf(deviceId) }).changes;
}

/** Row change: replaces a person's name in the codes that they made. @returns how many changed */
const eraseMakerOfCodes = (core: Core, { email, mark }: ErasedPerson): number =>
  rows(core.store).renameMaker.run({ email, mark, limit: MAX_ERASED_ROWS }).changes;

/** Erasing devices, and people's names from their codes. */
export const deviceErasure = { eraseDevice, eraseMakerOfCodes, isErased };
