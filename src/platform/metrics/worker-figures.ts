import { workers } from "../workers/workers.ts";
import { figure, type Metric } from "./metrics.ts";

export const workerMetrics: readonly Metric[] = [
  figure("gauge", "reckon_worker_jobs_waiting", "Jobs that wait for a worker thread.", (core) => workers(core).waiting),
  figure("gauge", "reckon_workers", "Worker threads that there are.", (core) => workers(core).threads),
  figure("gauge", "reckon_workers_busy", "Worker threads at work.", (core) => workers(core).busy),
];
