import { expect } from "vitest";
import type { Core } from "../../src/core.ts";
import { enqueue, startJobs } from "../../src/platform/jobs/jobs.ts";

/** What a job's error quotes may be anybody's. */
export const CAUSE = "<b>no route</b>\u001b[31m";

/** Leaves an instance with a job that keeps failing at its interval, one whose queued work failed, and one whose work waits. */
export async function leaveUnfinished(core: Core): Promise<void> {
  const failing = () => {
    throw new Error(CAUSE);
  };
  const send = { name: "test.send", handle: failing };
  await core.store.write(() => {
    enqueue(core, send, { n: 1 });
    enqueue(core, { name: "test.wait", handle() {} }, { n: 2 });
  });
  const stop = startJobs(core, [send, { name: "test.interval", everyMs: 1, run: failing }]);
  const failed = core.store.db.prepare(
    "SELECT count(*) FROM (SELECT job FROM job_failures UNION SELECT job FROM outbox WHERE cause IS NOT NULL)",
  );
  await expect.poll(() => failed.pluck().get()).toBe(2);
  await stop();
}
