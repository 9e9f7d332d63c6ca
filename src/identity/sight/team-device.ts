import type { Core } from "../../core.ts";
import { fail, forbidden } from "../../kit/problem.ts";
import { credential } from "../../platform/http/credential.ts";
import { type DevicePrincipal, device, findDeviceOf } from "../devices/devices.ts";
import { roleIn } from "../members/members.ts";

/**
 * Whether a device is told nothing of the rest of the team: it is somebody's who sees only what their own devices sent, or who has left
 * the team or has no open account any more. It reports on all the same, so what it reads must end by itself.
 */
export function isOwnOnly(core: Core, { deviceId, teamId }: Pick<DevicePrincipal, "deviceId" | "teamId">): boolean {
  const { personId = null, person } = findDeviceOf(core, teamId, deviceId) ?? {};
  if (personId === null) return false;
  const role = roleIn(core, teamId, personId);
  return role === undefined || role === "own_only" || person?.disabledAt !== null;
}

/** Whether a device may be told of the team's audit: it is somebody's who owns or administers the team. */
export function readsAudit(core: Core, device: Pick<DevicePrincipal, "deviceId" | "teamId">): boolean {
  const personId = findDeviceOf(core, device.teamId, device.deviceId)?.personId ?? null;
  if (personId === null || isOwnOnly(core, device)) return false;
  return ["owner", "admin"].includes(roleIn(core, device.teamId, personId) ?? "");
}

/** A device's token where it reads what the whole team sent; such an endpoint declares `forbidden`. */
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

/** The same where it changes what the team sees, other than by what an agent did: a viewer does not. */
export const changingDevice = credential<DevicePrincipal>({
  ...teamDevice,
  judge(core, principal) {
    teamDevice.judge?.(core, principal);
    const personId = findDeviceOf(core, principal.teamId, principal.deviceId)?.personId ?? null;
    if (personId !== null && roleIn(core, principal.teamId, personId) === "viewer")
      fail(forbidden, "This is a viewer's device: it reports what its agents do, and changes nothing else.");
  },
});
