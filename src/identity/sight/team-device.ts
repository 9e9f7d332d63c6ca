import type { Core } from "../../core.ts";
import { fail, forbidden } from "../../kit/problem.ts";
import { credential } from "../../platform/http/credential.ts";
import { type DevicePrincipal, device, findDeviceOf } from "../devices/devices.ts";
import { roleIn } from "../members/members.ts";

/** Whether a device is somebody's who sees only what their own devices sent: nothing of the rest of the team is told to it then. */
export function isOwnOnly(core: Core, { deviceId, teamId }: Pick<DevicePrincipal, "deviceId" | "teamId">): boolean {
  const personId = findDeviceOf(core, teamId, deviceId)?.personId;
  return typeof personId === "string" && roleIn(core, teamId, personId) === "own_only";
}

/** A device's token where it reads what the whole team sent; such an endpoint declares `forbidden`. */
export const teamDevice = credential<DevicePrincipal>({
  ...device,
  judge(core, principal) {
    device.judge?.(core, principal);
    if (isOwnOnly(core, principal))
      fail(forbidden, "Whose device this is sees only what their own devices sent, and this tells of the whole team.");
  },
});
