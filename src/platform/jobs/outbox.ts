import type { Core } from "../../core.ts";
import { HOUR_MS, SECOND_MS } from "../../kit/clock.ts";
import { rows } from "./rows.ts";
import { causeText, type IntervalJob, type QueuedJob, runs } from "./supervise.ts";

const LOOK_EVERY_MS = SECOND_MS;
/** Pieces of one job that are done one after the other before it looks anew. */
const BATCH_PIECES = 100;
const FIRST_RETRY_MS = SECOND_MS;
const MAX_RETRY_MS = HOUR_MS;

/**
 * Row change: queues work for a job. Call it inside the transaction that the work follows from, so that neither is without the
 * other.
 * @param payload plain JSON
 */
export function enqueue(core: Core, job: QueuedJob, payload: unknown): void {
  rows(core.store).enqueue.run(job.name, JSON.stringify(payload), core.clock.now());
}

/** Does what is queued for these jobs; they do not wait for one another. */
export const outboxJob = (jobs: readonly QueuedJob[]): IntervalJob => ({
  name: "outbox",
  everyMs: LOOK_EVERY_MS,
  async run(core) {
    await Promise.all(jobs.map((job) => doDue(core, job)));
  },
});

async function doDue(core: Core, job: QueuedJob): Promise<void> {
  const sql = rows(core.store);
  const now = core.clock.now();
  for (const { id, payload, attempts } of sql.due.all(job.name, now, BATCH_PIECES)) {
    const retryAt = now + Math.min(FIRST_RETRY_MS * 2 ** attempts, MAX_RETRY_MS);
    // Counted before it is tried: work that ends the process must not do so at every start, again and again.
    const claimed = await core.store.write(() => sql.claim.run(retryAt, id, attempts).changes === 1);
    if (!claimed) continue;
    try {
      await job.handle(core, JSON.parse(payload));
    } catch (error) {
      runs.count(core, { job_name: job.name, outcome: "failed" });
      core.log.warn("job_failed", { job: job.name, attempt: attempts + 1, cause: causeText(error) });
      await core.store.write(() => sql.fail.run(causeText(error), id));
      continue;
    }
    await core.store.write(() => sql.done.run(id));
    runs.count(core, { job_name: job.name, outcome: "done" });
  }
}
