import { expect, it } from "vitest";
import { startInstance } from "../support/instance.ts";
import { CAUSE, leaveUnfinished } from "../support/jobs.ts";
import { command } from "../support/remote.ts";

const list = async (data: string, ...flags: string[]) => {
  const done = await command(["jobs", "list", "--data", data, ...flags]);
  expect([done.code, done.stderr]).toEqual([0, ""]);
  return done.stdout;
};

it("lists the jobs that fail and those that wait, beside a running server, and changes nothing", async () => {
  const t = await startInstance();
  expect([await list(t.directory), JSON.parse(await list(t.directory, "--json"))]).toEqual(["", []]);
  await leaveUnfinished(t.instance.core);
  const [interval] = t.rows("SELECT failures FROM job_failures");
  const stored = () => [t.rows("SELECT * FROM outbox"), t.rows("SELECT * FROM job_failures")];
  const before = stored();
  const now = t.clock.now();
  const at = (ms: number) => new Date(ms).toISOString();
  expect(JSON.parse(await list(t.directory, "--json"))).toEqual([
    { job: "test.interval", waiting: null, tries: interval.failures, lastError: `Error: ${CAUSE}`, nextTryAt: null },
    { job: "test.send", waiting: 1, tries: 1, lastError: `Error: ${CAUSE}`, nextTryAt: at(now + 1_000) },
    { job: "test.wait", waiting: 1, tries: 0, lastError: null, nextTryAt: at(now) },
  ]);
  // For people: a job a line, and nothing in it that would act on their terminal.
  expect(await list(t.directory)).toBe(
    [
      `test.interval\t-\t${interval.failures}\t-\tError: <b>no route</b>?[31m`,
      `test.send\t1\t1\t${at(now + 1_000)}\tError: <b>no route</b>?[31m`,
      `test.wait\t1\t0\t${at(now)}\t-`,
      "",
    ].join("\n"),
  );
  expect(stored()).toEqual(before);
});
