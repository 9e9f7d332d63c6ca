import type { Core } from "../../core.ts";
import { SECOND_MS } from "../../kit/clock.ts";
import { figure, type Metric } from "../../platform/metrics/metrics.ts";
import { objects } from "./flow.ts";
import { lakeStatus } from "./status.ts";

const inUse = (core: Core) => (core.config.lake === null ? undefined : lakeStatus(core));

export const lakeMetrics: readonly Metric[] = [
  figure(
    "gauge",
    "reckon_lake_current_timestamp_seconds",
    "All that was to be in the lake at this instant is, in seconds since the epoch; 0 before the first time, none without a lake.",
    (core) => {
      const status = inUse(core);
      return status && (status.currentAt ?? 0) / SECOND_MS;
    },
  ),
  figure(
    "gauge",
    "reckon_lake_waiting",
    "Blocks that are not in the lake yet, days to be written, and blocks to be taken out of it.",
    (core) => {
      const status = inUse(core);
      return status && Object.entries(status.waiting).map(([what, count]) => [{ what }, count] as const);
    },
  ),
  figure("gauge", "reckon_lake_failing", "1 where the lake could not be reached last, 0 where it is well.", (core) => {
    const status = inUse(core);
    return status && Number(status.failure !== null);
  }),
  objects,
];
