import { room } from "../../platform/rooms/rooms.ts";
import { policy as getPolicy } from "./get-policy.ts";

export const policy = room({
  name: "policy",
  tags: { Policy: "What capture agents may record." },
  endpoints: [getPolicy],
  auditActions: {
    "policy.changed": { label: "Policy changed", did: "changed the policy" },
    "policy.restored": { label: "Policy restored", did: "restored an earlier policy" },
  },
});
