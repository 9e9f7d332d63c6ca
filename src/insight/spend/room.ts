import { room } from "../../platform/rooms/rooms.ts";
import { spendMetrics } from "./figures.ts";
import { spend as getSpend } from "./get-spend.ts";
import { repricing } from "./price-sessions.ts";
import { spendEntriesProjection } from "./project-entries.ts";
import { spendSessionsProjection } from "./project-sessions.ts";

export const spend = room({
  name: "spend",
  tags: { Spend: "What agents used of models, and what it costs." },
  endpoints: [getSpend],
  projections: [spendEntriesProjection, spendSessionsProjection],
  jobs: [repricing],
  metrics: spendMetrics,
  auditActions: {
    "spend.exported": { label: "Spend exported", did: "exported what was spent" },
  },
});
