import { room } from "../../platform/rooms/rooms.ts";
import { defectMetrics } from "./figures.ts";
import { entriesProjection } from "./follow-brains.ts";
import { briefing } from "./get-briefing.ts";
import { metrics } from "./get-metrics.ts";

export const defects = room({
  name: "defects",
  endpoints: [metrics, briefing],
  projections: [entriesProjection],
  metrics: defectMetrics,
});
