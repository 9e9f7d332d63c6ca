import { room } from "../../platform/rooms/rooms.ts";
import { heartbeat } from "./heartbeat.ts";
import { ingest } from "./ingest.ts";

export const telemetry = room({
  name: "telemetry",
  tags: { Telemetry: "The append-only stream of what agents did." },
  endpoints: [ingest, heartbeat],
  auditActions: {
    "telemetry.exported": { label: "Telemetry exported", did: "exported telemetry" },
  },
});
