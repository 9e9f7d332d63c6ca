import { room } from "../../platform/rooms/rooms.ts";

export const recordExport = room({
  name: "export",
  auditActions: {
    "record.exported": { label: "Record exported", did: "exported all that is held of" },
  },
});
