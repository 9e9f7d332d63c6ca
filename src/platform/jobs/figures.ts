import { figure, type Metric } from "../metrics/metrics.ts";
import { rows } from "./rows.ts";

export const jobMetrics: readonly Metric[] = [
  figure(
    "gauge",
    "reckon_job_tries",
    "Failures in a row of a background job; none where all is done.",
    // Not `job`: that is what Prometheus calls the server itself.
    (core) =>
      rows(core.store)
        .troubled.all()
        .map(({ job, tries }) => [{ job_name: job }, tries] as const),
  ),
];
