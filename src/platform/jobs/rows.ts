import { statements } from "../store/store.ts";

/** A job that failed when it was run last. */
export interface TroubledJob {
  readonly job: string;
  /** Failures in a row. */
  readonly tries: number;
  /** The error of the last. */
  readonly cause: string;
}

export const rows = statements((db) => ({
  // By primary key.
  failed: db.prepare<[string], number>("SELECT failures FROM job_failures WHERE job = ?").pluck(),
  recordFailure: db.prepare<[string, number, string]>(
    `INSERT INTO job_failures (job, failures, failed_at, cause) VALUES (?, 1, ?, ?)
     ON CONFLICT (job) DO UPDATE SET failures = failures + 1, failed_at = excluded.failed_at, cause = excluded.cause`,
  ),
  forgetFailure: db.prepare<[string]>("DELETE FROM job_failures WHERE job = ?"),
  // Short: a row for each job that fails.
  troubled: db.prepare<[], TroubledJob>("SELECT job, failures AS tries, cause FROM job_failures ORDER BY job"),
}));
