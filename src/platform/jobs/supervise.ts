import type { Core } from "../../core.ts";
import { SECOND_MS } from "../../kit/clock.ts";
import { counter } from "../metrics/metrics.ts";
import { lookAtClock } from "./proven-clock.ts";
import { rows } from "./rows.ts";

/** Work that is done again and again while an instance runs. */
export interface Job {
  /** Names it in the log, the metrics and the doctor's report. */
  readonly name: string;
  /** From the end of one run to the beginning of the next. */
  readonly everyMs: number;
  /** From a failure to the next try, when trying is costly; otherwise the interval, doubled up to half a minute. */
  readonly retryMs?: number;
  /** Not run within an hour after the clock was set: by a wrong one it would tell or forget what cannot be taken back. */
  readonly needsClock?: true;
  /** Its progress: after a run that got further before it failed, the next try comes as soon as after a first failure. */
  progress?(core: Core): number;
  /** Cuts short a run that is under way when the instance stops. */
  stop?(core: Core): void;
  run(core: Core): void | Promise<void>;
}

/** A job that keeps failing is run less and less often, down to this. */
const MAX_PAUSE_MS = 30 * SECOND_MS;
const MAX_CAUSE_CHARS = 200;

export const runs = counter("reckon_job_runs_total", "Runs of background jobs.");

/** An error in words short enough to be kept, without what it may quote at length. */
export const causeText = (error: unknown): string =>
  ((error instanceof Error && error.message) || String(error)).slice(0, MAX_CAUSE_CHARS).toWellFormed();

/** Runs a job at its interval, one run at a time. @returns a function that stops it and waits for the run in work */
export function supervise(core: Core, job: Job): () => Promise<void> {
  let failures = 0;
  // An earlier process may have left word of a failure.
  let recorded = true;
  let stopped = false;
  let timer: NodeJS.Timeout;
  let running = Promise.resolve();
  const attempt = async () => {
    const clock = lookAtClock(core);
    if (job.needsClock && clock === "set") return;
    const before = job.progress?.(core);
    try {
      await job.run(core);
      runs.count(core, { job_name: job.name, outcome: "done" });
      failures = 0;
      if (recorded) recorded = await remains(core, job);
    } catch (error) {
      runs.count(core, { job_name: job.name, outcome: "failed" });
      // Logged once: a fault mostly lasts longer than an interval.
      if (failures === 0) core.log.warn("job_failed", { job: job.name, cause: causeText(error) });
      failures = job.progress?.(core) === before ? failures + 1 : 1;
      recorded = true;
      await recordFailure(core, job, error);
    }
  };
  const schedule = () => {
    if (stopped) return;
    const pause =
      failures > 0 && job.retryMs !== undefined
        ? job.retryMs
        : Math.max(job.everyMs, Math.min(job.everyMs * 2 ** failures, MAX_PAUSE_MS));
    timer = setTimeout(() => {
      running = attempt().then(schedule);
    }, pause).unref();
  };
  schedule();
  return () => {
    stopped = true;
    clearTimeout(timer);
    job.stop?.(core);
    return running;
  };
}

/** Forgets that a job failed. @returns whether that could not be stored */
async function remains(core: Core, { name }: Job): Promise<boolean> {
  const sql = rows(core.store);
  if (sql.failed.get(name) === undefined) return false;
  return core.store
    .write(() => sql.forgetFailure.run(name))
    .then(
      () => false,
      () => true,
    );
}

/** Stores a job's failure for the doctor, if anything can be stored at all. */
async function recordFailure(core: Core, { name }: Job, error: unknown): Promise<void> {
  if (core.store.failing || !core.store.db.open) return;
  await core.store
    .write(() => rows(core.store).recordFailure.run(name, core.clock.now(), causeText(error)))
    .catch(() => {});
}
