import { room } from "../../platform/rooms/rooms.ts";
import { backgroundWorkers } from "../../platform/workers/workers.ts";
import { lakeMetrics } from "./figures.ts";
import { lakeJob } from "./flow.ts";

export const lake = room({
  name: "lake",
  jobs: [lakeJob],
  metrics: lakeMetrics,
  close: (core) => void backgroundWorkers(core).close(),
  auditActions: {
    "lake.exported": { label: "Exported as Parquet", did: "exported as Parquet the record of" },
  },
});
