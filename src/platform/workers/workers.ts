/**
 * Workers: threads that take long computations off the main one, each a job with a name. They share only messages with it: they have no
 * store, no clock and no settings. Also here: how many bodies are being prepared, in threads or not.
 * Not here: what the jobs do (each is declared where it belongs, and listed in `worker.ts`); work that needs the store (jobs).
 */
import { Worker } from "node:worker_threads";
import { type Core, slot } from "../../core.ts";
import { threadSource } from "../../kit/assets.ts";
import { Pool } from "./pool.ts";

/** Far longer than any accepted body takes. */
const JOB_MS = 30_000;

/** Memory limits of a thread: many times the largest accepted body. */
const LIMITS = { maxOldGenerationSizeMb: 1_024, maxYoungGenerationSizeMb: 24 };

const poolOf = (size: number, log: Core["log"]) =>
  new Pool({
    size,
    start() {
      const { source, isText } = threadSource();
      return new Worker(source, { eval: isText, resourceLimits: LIMITS, name: "reckon-worker" });
    },
    jobMs: JOB_MS,
    log,
  });

/** The instance's threads. */
export const workers = slot(({ config, log }) => poolOf(config.workers, log));

/** As `workers`, for work that is never done on the main thread: when no threads are set, one is started once there is such work. */
export const backgroundWorkers = slot((core) => (core.config.workers > 0 ? workers(core) : poolOf(1, core.log)));

export { isCrowded, takingIn } from "./crowd.ts";
export { JobLost, NoThreads } from "./pool.ts";
export { type Made, serve, type Work } from "./thread.ts";
