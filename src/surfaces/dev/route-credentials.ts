import * as v from "valibot";
import { revokeDeviceOf } from "../../identity/devices/devices.ts";
import { getTeam } from "../../identity/teams/teams.ts";
import { Complaint } from "../../kit/problem.ts";
import { SYSTEM } from "../../platform/audit/audit.ts";
import { KINDS, type Kind, mintIn, STATES } from "./mint.ts";
import { rotateKnown } from "./rotate.ts";
import { control } from "./route.ts";

const Wanted = v.strictObject({ kind: v.picklist(KINDS), state: v.optional(v.string()) });
const Act = v.strictObject({ action: v.picklist(["revoke", "rotate"]) });

const listed = KINDS.map((kind) => `${kind} (${STATES[kind].join(", ")})`).join("; ");

export const credentialRoutes = [
  control(
    {
      method: "POST",
      path: "/_dev/credentials",
      says: `makes another credential, in any state it can have: ${listed}`,
      body: Wanted,
      example: { kind: "device", state: "expired" },
    },
    async ({ local, body: { kind, state } }) => {
      const wanted = state ?? STATES[kind][0];
      if (!(STATES[kind] as readonly string[]).includes(wanted))
        throw new Complaint(`A ${kind} can be made ${STATES[kind].join(", ")}; not "${wanted}".`);
      getTeam(local.core, local.credentials.teamId);
      return { kind, state: wanted, ...(await mintIn(local, kind as Kind, wanted)) };
    },
  ),
  control(
    {
      method: "POST",
      path: "/_dev/devices/:id",
      says: "revoke: ends a device's binding as an admin would. rotate: replaces its token, so that the one in use is retired",
      body: Act,
      example: { action: "revoke" },
    },
    async ({ local, id, body: { action } }) => {
      if (action === "rotate") return rotateKnown(local, id);
      const changed = await revokeDeviceOf(local.core, local.credentials.teamId, id, SYSTEM);
      if (changed === undefined) throw new Complaint(`There is no device "${id}". GET /_dev/state lists them.`, 404);
      return { deviceId: id, status: "revoked", changed };
    },
  ),
];
