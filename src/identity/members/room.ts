import { room } from "../../platform/rooms/rooms.ts";

export const members = room({
  name: "members",
  auditActions: {
    "member.added": { label: "Person joined", did: "added" },
    "member.role_changed": { label: "Role changed", did: "changed the role of" },
    "member.removed": { label: "Person removed", did: "removed" },
  },
});
