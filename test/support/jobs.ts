import { expect } from "vitest";
import type { Core } from "../../src/core.ts";
import { startJobs } from "../../src/platform/jobs/jobs.ts";

/** What a job's error quotes may be anybody's. */
export const CAUSE = "<b>no route</b>\u001b[31m";

/** Leaves an instance with a job that keeps failing. @returns how often it did */
export async function leaveFailing(core: Core): Promise<number> {
  const run = () => {
    throw new Error(CAUSE);
  };
  const stop = startJobs(core, [{ name: "test.interval", everyMs: 1, run }]);
  const failures = core.store.db.prepare("SELECT failures FROM job_failures").pluck();
  await expect.poll(() => failures.get()).toBeGreaterThan(0);
  await stop();
  return failures.get() as number;
}
