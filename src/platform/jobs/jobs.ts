/**
 * Jobs: work in the background of an instance, at an interval. Each is supervised: what fails is counted, logged, shown by the
 * doctor and tried again, less and less often. The clock is watched here, because some jobs must not run by one that is wrong.
 * Not here: the work itself, which belongs to the rooms that declare it; what follows deliveries (projections, a job of theirs).
 */
import type { Core } from "../../core.ts";
import { lookAtClock } from "./proven-clock.ts";
import { rows, type TroubledJob } from "./rows.ts";
import { type Job, supervise } from "./supervise.ts";

export { jobMetrics } from "./figures.ts";
export { lookAtClock } from "./proven-clock.ts";
export { causeText, type Job, runs } from "./supervise.ts";

/** Begins the jobs of an instance. @returns a function that stops them and waits for what is in work */
export function startJobs(core: Core, jobs: readonly Job[]): () => Promise<void> {
  lookAtClock(core);
  const stops = jobs.map((job) => supervise(core, job));
  return async () => {
    await Promise.all(stops.map((stop) => stop()));
  };
}

/** The jobs that failed when they were run last, by name; none where all is well. */
export const troubledJobs = (core: Core): TroubledJob[] => rows(core.store).troubled.all();
