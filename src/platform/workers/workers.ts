/**
 * Workers: threads of this program that take long computations off the main one, each a job with a name. What they share with it are
 * messages: they have no store, no clock and no settings.
 * Not here: what the jobs do (each is declared where it belongs, and listed in `worker.ts`); work that needs the store (jobs).
 */
import { Worker } from "node:worker_threads";
import { slot } from "../../core.ts";
import { threadSource } from "../../kit/assets.ts";
import { Pool } from "./pool.ts";

/** Far longer than any body takes that a body may be. */
const JOB_MS = 30_000;

/** What a thread may hold: the largest bodies that are taken, many times over. */
const LIMITS = { maxOldGenerationSizeMb: 1_024, maxYoungGenerationSizeMb: 24 };

/** The instance's threads. */
export const workers = slot(
  ({ config, log }) =>
    new Pool({
      size: config.workers,
      start() {
        const { source, isText } = threadSource();
        return new Worker(source, { eval: isText, resourceLimits: LIMITS, name: "reckon-worker" });
      },
      jobMs: JOB_MS,
      log,
    }),
);

export { JobLost, NoThreads } from "./pool.ts";
export type { Payer } from "./queue.ts";
export { type Made, serve, type Work } from "./thread.ts";
