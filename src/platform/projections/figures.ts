import { SECOND_MS } from "../../kit/clock.ts";
import { figure, type Metric, survey } from "../metrics/metrics.ts";
import { failures } from "./failures.ts";
import { lagOf } from "./run.ts";

const skipped = survey((core) => failures(core).reduce((sum, { count }) => sum + count, 0));

export const projectionMetrics: readonly Metric[] = [
  figure(
    "gauge",
    "reckon_projection_lag_seconds",
    "For how long something that was delivered waits to be worked through; 0 where all is.",
    (core) => lagOf(core) / SECOND_MS,
  ),
  figure(
    "gauge",
    "reckon_projection_skipped",
    "Deliveries, or parts of them, that could not be worked through and were passed over.",
    skipped,
  ),
];
