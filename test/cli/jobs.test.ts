import { expect, it } from "vitest";
import { startInstance } from "../support/instance.ts";
import { CAUSE, leaveFailing } from "../support/jobs.ts";
import { command } from "../support/remote.ts";

const list = async (data: string, ...flags: string[]) => {
  const done = await command(["jobs", "list", "--data", data, ...flags]);
  expect([done.code, done.stderr]).toEqual([0, ""]);
  return done.stdout;
};

it("lists the jobs that fail, beside a running server, and changes nothing", async () => {
  const t = await startInstance();
  expect([await list(t.directory), JSON.parse(await list(t.directory, "--json"))]).toEqual(["", []]);
  const tries = await leaveFailing(t.instance.core);
  const before = t.rows("SELECT * FROM job_failures");
  expect(JSON.parse(await list(t.directory, "--json"))).toEqual([{ job: "test.interval", tries, lastError: CAUSE }]);
  // For people: a job a line, and nothing in it that would act on their terminal.
  expect(await list(t.directory)).toBe(`test.interval\t${tries}\t<b>no route</b>?[31m\n`);
  expect(t.rows("SELECT * FROM job_failures")).toEqual(before);
});
