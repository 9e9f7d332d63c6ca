import { room } from "../rooms/rooms.ts";

export const audit = room({
  name: "audit",
  auditActions: {
    "audit.exported": { label: "Audit exported", did: "exported the audit" },
  },
});
