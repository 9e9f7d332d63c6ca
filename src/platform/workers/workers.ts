/**
 * Workers: threads of this program that take long computations off the main one, each a job with a name. What they share with it are
 * messages: they have no store, no clock and no settings. And how crowded it is where bodies are made ready, by whomever.
 * Not here: what the jobs do (each is declared where it belongs, and listed in `worker.ts`); work that needs the store (jobs).
 */
import { Worker } from "node:worker_threads";
import { type Core, slot } from "../../core.ts";
import { threadSource } from "../../kit/assets.ts";
import { Pool } from "./pool.ts";

/** Far longer than any body takes that a body may be. */
const JOB_MS = 30_000;

/** What a thread may hold: the largest bodies that are taken, many times over. */
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

/** The same for what is never done on the main thread: where none are set, one that is started once there is such work. */
export const backgroundWorkers = slot((core) => (core.config.workers > 0 ? workers(core) : poolOf(1, core.log)));

export { isCrowded, takingIn } from "./crowd.ts";
export { JobLost, NoThreads } from "./pool.ts";
export { type Made, serve, type Work } from "./thread.ts";
