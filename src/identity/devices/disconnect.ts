import * as v from "valibot";
import { endpoint } from "../../platform/http/endpoint.ts";
import { deviceActor, endBinding } from "./binding.ts";
import { device } from "./credential.ts";
import { rows } from "./rows.ts";

/** Ends the binding of the machine that calls; all its tokens stop working, its records stay. */
export const disconnect = endpoint(
  {
    id: "connectDisconnect",
    method: "POST",
    path: "/api/connect/disconnect",
    summary: "Revoke this machine's binding",
    tag: "Connect",
    auth: device,
    ok: v.looseObject({ ok: v.boolean(), revoked: v.optional(v.boolean()) }),
    faults: [],
    limits: [],
    example: { ok: { ok: true, revoked: true } },
  },
  async ({ core, principal, ip }) => {
    const address = ip();
    const revoked = await core.store.write(() => {
      const device = rows(core.store).device.get(principal.deviceId);
      return (
        device !== undefined &&
        endBinding(core, device, deviceActor(device.id, device.label, address), "device.disconnected")
      );
    });
    return { ok: true, revoked };
  },
);
