import * as v from "valibot";
import { findDeviceOf, revokeDevice } from "../../../identity/devices/devices.ts";
import { getTeam } from "../../../identity/teams/teams.ts";
import { fail, invalid, notFound } from "../../../kit/problem.ts";
import { SYSTEM } from "../../../platform/audit/audit.ts";
import { KINDS, mintIn, STATES } from "../mint.ts";
import { rotateKnown } from "../rotate.ts";
import { control } from "./route.ts";

const RequestBody = v.strictObject({ kind: v.picklist(KINDS), state: v.optional(v.string()) });
const Act = v.strictObject({ action: v.picklist(["revoke", "rotate"]) });

const listed = KINDS.map((kind) => `${kind} (${STATES[kind].join(", ")})`).join("; ");

export const credentialRoutes = [
  control(
    {
      method: "POST",
      path: "/_dev/credentials",
      description: `makes another credential, in any state it can have: ${listed}`,
      body: RequestBody,
      example: { kind: "device", state: "expired" },
    },
    async ({ local, body: { kind, state } }) => {
      const requested = state ?? STATES[kind][0];
      if (!(STATES[kind] as readonly string[]).includes(requested))
        fail(invalid, `A ${kind} can be made ${STATES[kind].join(", ")}; not "${requested}".`);
      getTeam(local.core, local.credentials.teamId);
      return { kind, state: requested, ...(await mintIn(local, kind, requested)) };
    },
  ),
  control(
    {
      method: "POST",
      path: "/_dev/devices/:id",
      description:
        "revoke: ends a device's binding as an admin would. rotate: replaces its token, so that the one in use is retired",
      body: Act,
      example: { action: "revoke" },
    },
    async ({ local, id, body: { action } }) => {
      if (action === "rotate") return rotateKnown(local, id);
      if (!findDeviceOf(local.core, local.credentials.teamId, id))
        fail(notFound, `There is no device "${id}". GET /_dev/state lists them.`);
      const changed = await revokeDevice(local.core, id, SYSTEM);
      return { deviceId: id, status: "revoked", changed };
    },
  ),
];
