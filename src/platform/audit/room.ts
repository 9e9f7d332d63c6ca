import { room } from "../rooms/rooms.ts";

export const audit = room({
  name: "audit",
  auditActions: {
    "audit.exported": { label: "Audit exported", did: "exported the audit" },
    "events.erased": { label: "Old events let go", did: "let old events of the audit go, by the" },
    "names.erased": {
      label: "Names taken out of events",
      did: "took names out of events of the audit, with the erasure of the",
    },
  },
});
