import { room } from "../../platform/rooms/rooms.ts";
import { telemetryMetrics } from "./figures.ts";
import { heartbeat } from "./heartbeat.ts";
import { ingest } from "./ingest.ts";
import { sealJob } from "./seal.ts";

export const telemetry = room({
  name: "telemetry",
  tags: { Telemetry: "The append-only stream of what agents did." },
  endpoints: [ingest, heartbeat],
  jobs: [sealJob],
  metrics: telemetryMetrics,
  auditActions: {
    "telemetry.exported": { label: "Telemetry exported", did: "exported telemetry" },
  },
});
