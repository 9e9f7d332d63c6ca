import * as v from "valibot";
import { endpoint } from "../http/endpoint.ts";
import { rows } from "./rows.ts";

/** Ends the binding of the machine that calls; all its tokens stop working, its records stay. */
export const disconnect = endpoint(
  {
    id: "connectDisconnect",
    method: "POST",
    path: "/api/connect/disconnect",
    summary: "Revoke this machine's binding",
    tag: "Connect",
    auth: "device",
    ok: v.looseObject({ ok: v.boolean(), revoked: v.optional(v.boolean()) }),
    faults: [],
    limits: [],
  },
  async ({ core, principal }) => {
    const revoked = await core.store.write(
      () => rows(core.store).revokeDevice.run(core.clock.now(), principal.deviceId).changes === 1,
    );
    return { ok: true, revoked };
  },
);
