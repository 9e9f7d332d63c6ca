import * as v from "valibot";
import { getUser } from "../../../identity/accounts/accounts.ts";
import { decideAuthorization } from "../../../identity/device-flow/device-flow.ts";
import type { Actor } from "../../../platform/audit/audit.ts";
import { control } from "./route.ts";

const Answer = v.strictObject({
  user_code: v.string(),
  decision: v.picklist(["approve", "deny"]),
  /** Who signs in; the instance's own person unless named. */
  user: v.optional(v.string()),
});

export const authorizations = control(
  {
    method: "POST",
    path: "/_dev/authorizations",
    description:
      "answers a device authorization as a person in the browser would: approve or deny. GET /_dev/state lists those that wait",
    body: Answer,
    example: { user_code: "BCDF-GHJK", decision: "approve" },
  },
  async ({ local: { core, credentials }, body }) => {
    const user = getUser(core, body.user ?? credentials.userId);
    const by: Actor = { kind: "user", id: user.id, label: user.email, ip: "127.0.0.1" };
    const decision = body.decision === "approve" ? "approved" : "denied";
    const { userCode } = await decideAuthorization(core, body.user_code, decision, user, by);
    return { user_code: userCode, decision, userId: user.id, email: user.email };
  },
);
