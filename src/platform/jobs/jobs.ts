/**
 * Jobs: work in the background of an instance, at an interval or from a queue in the database. Each is supervised: what fails is
 * counted, logged, shown by the doctor and tried again, less and less often.
 * Not here: the work itself, which belongs to the rooms that declare it; what follows deliveries (projections, a job of theirs).
 */
import type { Core } from "../../core.ts";
import { outboxJob } from "./outbox.ts";
import { rows, type UnfinishedJob } from "./rows.ts";
import { type IntervalJob, type QueuedJob, supervise } from "./supervise.ts";

export { jobMetrics } from "./figures.ts";
export { enqueue } from "./outbox.ts";
export { causeText, type IntervalJob, type QueuedJob, runs } from "./supervise.ts";

export type Job = IntervalJob | QueuedJob;

/** Begins the jobs of an instance. @returns a function that stops them and waits for what is in work */
export function startJobs(core: Core, jobs: readonly Job[]): () => Promise<void> {
  const intervals = jobs.filter((job) => "run" in job);
  const queued = jobs.filter((job) => "handle" in job);
  if (queued.length > 0) intervals.push(outboxJob(queued));
  const stops = intervals.map((job) => supervise(core, job));
  return async () => {
    await Promise.all(stops.map((stop) => stop()));
  };
}

/** The jobs that have work in their queue or failed when they were run last, by name; none where all is done. */
export const unfinishedJobs = (core: Core): UnfinishedJob[] => rows(core.store).unfinished.all();

/** Those of them that failed when they were tried last; none where all is well. */
export const troubledJobs = (core: Core): UnfinishedJob[] => unfinishedJobs(core).filter(({ tries }) => tries > 0);
