import type { Core } from "../../core.ts";
import { fail, forbidden } from "../../kit/problem.ts";
import { credential } from "../../platform/http/credential.ts";
import { type DevicePrincipal, device, findDeviceOf } from "../devices/devices.ts";
import { roleIn } from "../members/members.ts";

/**
 * Whether a device may read nothing of the rest of the team: its person sees only what their own devices sent, has left the team, or has no
 * open account any more. The device goes on reporting all the same, so its reading has to end by itself.
 */
export function isOwnOnly(core: Core, { deviceId, teamId }: Pick<DevicePrincipal, "deviceId" | "teamId">): boolean {
  const { personId = null, person } = findDeviceOf(core, teamId, deviceId) ?? {};
  if (personId === null) return false;
  const role = roleIn(core, teamId, personId);
  return role === undefined || role === "own_only" || person?.disabledAt !== null;
}

/** Whether a device may read the team's audit: its person owns or administers the team. */
export function readsAudit(core: Core, device: Pick<DevicePrincipal, "deviceId" | "teamId">): boolean {
  const personId = findDeviceOf(core, device.teamId, device.deviceId)?.personId ?? null;
  if (personId === null || isOwnOnly(core, device)) return false;
  return ["owner", "admin"].includes(roleIn(core, device.teamId, personId) ?? "");
}

/** A device's token for reading what the whole team sent; such an endpoint declares `forbidden`. */
export const teamDevice = credential<DevicePrincipal>({
  ...device,
  judge(core, principal) {
    device.judge?.(core, principal);
    if (isOwnOnly(core, principal))
      fail(
        forbidden,
        "This device's person sees only what their own devices sent, or has left the team; this request reads what the whole team sent.",
      );
  },
});

/** A device's token for changing what the team sees, other than by an agent's work: not for a viewer's device. */
export const changingDevice = credential<DevicePrincipal>({
  ...teamDevice,
  judge(core, principal) {
    teamDevice.judge?.(core, principal);
    const personId = findDeviceOf(core, principal.teamId, principal.deviceId)?.personId ?? null;
    if (personId !== null && roleIn(core, principal.teamId, personId) === "viewer")
      fail(forbidden, "This is a viewer's device: it reports what its agents do, and changes nothing else.");
  },
});
