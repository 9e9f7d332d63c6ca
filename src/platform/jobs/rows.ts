import { statements } from "../store/store.ts";

export interface QueuedRow {
  readonly id: number;
  readonly payload: string;
  readonly attempts: number;
}

/** A job that has work in its queue, or failed when it was run last. */
export interface UnfinishedJob {
  readonly job: string;
  /** Pieces of work in its queue; null for a job that runs at intervals. */
  readonly waiting: number | null;
  /** Of the piece that was tried most often, or failures in a row; 0 where nothing was tried yet. */
  readonly tries: number;
  /** The error of a try, null where there was none. */
  readonly cause: string | null;
  /** When a piece is due next, in milliseconds since the epoch; null for a job that runs at intervals, which only its server knows. */
  readonly nextTryAt: number | null;
}

/** What a part of the queue holds of one job. */
export interface QueueSlice {
  readonly job: string;
  readonly waiting: number;
  /** Of the piece that was tried most often. */
  readonly tries: number;
  /** The highest id. */
  readonly last: number;
}

export const rows = statements((db) => ({
  enqueue: db.prepare<[string, string, number]>("INSERT INTO outbox (job, payload, due_at) VALUES (?, ?, ?)"),
  // By outbox_by_due, what has waited longest first.
  due: db.prepare<[string, number, number], QueuedRow>(
    "SELECT id, payload, attempts FROM outbox WHERE job = ? AND due_at <= ? ORDER BY due_at, id LIMIT ?",
  ),
  // By the primary key; nothing when another process was faster.
  claim: db.prepare<[number, number, number]>(
    "UPDATE outbox SET attempts = attempts + 1, due_at = ? WHERE id = ? AND attempts = ?",
  ),
  fail: db.prepare<[string, number]>("UPDATE outbox SET cause = ? WHERE id = ?"),
  done: db.prepare<[number]>("DELETE FROM outbox WHERE id = ?"),
  // By primary key.
  failed: db.prepare<[string], number>("SELECT failures FROM job_failures WHERE job = ?").pluck(),
  recordFailure: db.prepare<[string, number, string]>(
    `INSERT INTO job_failures (job, failures, failed_at, cause) VALUES (?, 1, ?, ?)
     ON CONFLICT (job) DO UPDATE SET failures = failures + 1, failed_at = excluded.failed_at, cause = excluded.cause`,
  ),
  forgetFailure: db.prepare<[string]>("DELETE FROM job_failures WHERE job = ?"),
  // Short: a row for each job that fails.
  failing: db.prepare<[], { job: string; failures: number }>("SELECT job, failures FROM job_failures ORDER BY job"),
  // By the primary key, a bounded part.
  queueAfter: db.prepare<[number, number], QueueSlice>(
    `SELECT job, count(*) AS waiting, max(attempts) AS tries, max(id) AS last
     FROM (SELECT id, job, attempts FROM outbox WHERE id > ? ORDER BY id LIMIT ?) GROUP BY job`,
  ),
  // Both tables whole: they hold what is not done, which is little. Of an attempt that ended with its process no cause is known.
  unfinished: db.prepare<[], UnfinishedJob>(
    `SELECT job, NULL AS waiting, failures AS tries, cause, NULL AS nextTryAt FROM job_failures
     UNION ALL SELECT job, count(*), max(attempts),
       CASE WHEN max(attempts) > 0 THEN coalesce(max(cause), 'the process ended meanwhile') END, min(due_at)
     FROM outbox GROUP BY job ORDER BY job`,
  ),
}));
