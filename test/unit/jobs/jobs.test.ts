import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { readConfig } from "../../../src/config.ts";
import type { Core } from "../../../src/core.ts";
import { createLog } from "../../../src/kit/log.ts";
import { systemRandom } from "../../../src/kit/random.ts";
import {
  enqueue,
  type Job,
  type QueuedJob,
  runs,
  startJobs,
  troubledJobs,
  unfinishedJobs,
} from "../../../src/platform/jobs/jobs.ts";
import { openStore } from "../../../src/platform/store/store.ts";
import { examine } from "../../../src/share/maintenance/maintenance.ts";
import { TestClock } from "../../support/instance.ts";

interface TestCore extends Core {
  readonly clock: TestClock;
  readonly lines: string[];
}

/** Opens a directory as a process does; what an earlier one stored is there. */
function open(directory: string, clock: TestClock): TestCore {
  const store = openStore(directory, { now: clock.now });
  const lines: string[] = [];
  const log = createLog({ level: "debug", now: clock.now, write: (line) => lines.push(line) });
  return {
    config: readConfig({ data: directory }, {}),
    clock,
    random: systemRandom,
    log,
    store,
    state: new Map(),
    lines,
  };
}

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "reckon-jobs-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

function start(): TestCore {
  const core = open(newDirectory(), new TestClock());
  onTestFinished(() => core.store.close());
  return core;
}

/** Runs jobs with timers that the test moves. */
function begin(core: Core, ...jobs: Job[]): () => Promise<void> {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  return startJobs(core, jobs);
}

/** Waits for a run to end, whose last act is to set the timer of the next. */
async function isScheduled(): Promise<void> {
  while (vi.getTimerCount() === 0) await new Promise(setImmediate);
}

/** Lets timers run down until something is so. */
const poll = <T>(read: () => T) =>
  expect.poll(() => {
    vi.advanceTimersByTime(30_000);
    return read();
  });

const countOf = (core: Core, job: string, outcome = "done") =>
  Number(
    runs
      .lines(core)
      .find((line) => line.includes(`{job_name="${job}",outcome="${outcome}"}`))
      ?.split(" ")
      .at(-1) ?? 0,
  );

/** Waits until the outbox was looked through once more, from beginning to end. */
async function look(core: Core): Promise<void> {
  const before = countOf(core, "outbox");
  await poll(() => countOf(core, "outbox")).toBeGreaterThan(before + 1);
}

const outbox = (core: Core) =>
  core.store.db.prepare("SELECT payload, attempts, due_at AS dueAt, cause FROM outbox").all();
const doctor = async (core: Core) => (await examine(core, () => {})).find(({ check }) => check === "background jobs");

it("does what is queued, once, and queues nothing for a transaction that was undone", async () => {
  const core = start();
  const handled: unknown[] = [];
  const job: QueuedJob = { name: "test.send", handle: (_core, payload) => void handled.push(payload) };
  onTestFinished(begin(core, job));
  await expect(
    core.store.write(() => {
      enqueue(core, job, { n: 0 });
      throw new Error("undone");
    }),
  ).rejects.toThrow("undone");
  await core.store.write(() => {
    enqueue(core, job, { n: 1 });
    enqueue(core, job, { n: 2 });
  });
  await poll(() => outbox(core)).toEqual([]);
  await look(core);
  expect([handled, countOf(core, job.name)]).toEqual([[{ n: 1 }, { n: 2 }], 2]);
});

it("tries again, after a pause, what was under way when the process ended", async () => {
  const directory = newDirectory();
  const clock = new TestClock();
  const first = open(directory, clock);
  const begun = Promise.withResolvers<void>();
  const job = { name: "test.send" };
  begin(first, {
    ...job,
    handle() {
      begun.resolve();
      return new Promise<void>(() => {});
    },
  });
  await first.store.write(() => enqueue(first, { ...job, handle() {} }, { n: 1 }));
  await poll(() => countOf(first, "outbox") + outbox(first).length).toBeGreaterThan(0);
  vi.advanceTimersByTime(1_000);
  await begun.promise;
  first.store.db.close();

  const second = open(directory, clock);
  onTestFinished(() => second.store.close());
  expect(await doctor(second)).toMatchObject({
    status: "warning",
    detail: expect.stringContaining("the process ended"),
  });
  const handled: unknown[] = [];
  onTestFinished(begin(second, { ...job, handle: (_core, payload) => void handled.push(payload) }));
  await look(second);
  expect([handled, outbox(second)]).toMatchObject([[], [{ attempts: 1, dueAt: clock.now() + 1_000 }]]);
  clock.advance(1_000);
  await poll(() => outbox(second)).toEqual([]);
  expect([handled, (await doctor(second))?.status]).toEqual([[{ n: 1 }], "ok"]);
});

it("waits twice as long after each failure, up to an hour, and says so to the doctor until it is done", async () => {
  const core = start();
  let works = false;
  const job: QueuedJob = {
    name: "test.send",
    handle() {
      if (!works) throw new Error("no route");
    },
  };
  onTestFinished(begin(core, job));
  await core.store.write(() => enqueue(core, job, {}));
  const pauses: number[] = [];
  for (let attempt = 1; attempt <= 14; attempt++) {
    await poll(() => countOf(core, job.name, "failed")).toBe(attempt);
    await poll(() => outbox(core)).toMatchObject([{ attempts: attempt, cause: "Error: no route" }]);
    const [{ dueAt }] = outbox(core) as [{ dueAt: number }];
    pauses.push((dueAt - core.clock.now()) / 1_000);
    core.clock.advance(dueAt - core.clock.now());
  }
  expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048, 3_600, 3_600]);
  expect(await doctor(core)).toEqual({
    check: "background jobs",
    status: "warning",
    detail: "test.send failed (14): Error: no route",
  });
  const later = { name: "test.later", handle() {} };
  const at = core.clock.now();
  await core.store.write(() => {
    enqueue(core, later, { n: 1 });
    enqueue(core, later, { n: 2 });
  });
  const failing = { job: "test.send", waiting: 1, tries: 14, cause: "Error: no route", nextTryAt: at };
  expect(unfinishedJobs(core)).toEqual([
    { job: "test.later", waiting: 2, tries: 0, cause: null, nextTryAt: at },
    failing,
  ]);
  expect(troubledJobs(core)).toEqual([failing]);
  core.store.db.exec("DELETE FROM outbox WHERE job = 'test.later'");
  works = true;
  await poll(() => outbox(core)).toEqual([]);
  expect(await doctor(core)).toMatchObject({ status: "ok" });
});

it("runs a job at its interval, one run at a time, and waits for the run in work when it stops", async () => {
  const core = start();
  let begun = 0;
  let ended = 0;
  let end: () => void = () => {};
  const stop = begin(core, {
    name: "test.interval",
    everyMs: 10,
    async run() {
      begun++;
      await new Promise<void>((resolve) => (end = resolve));
      ended++;
    },
  });
  await poll(() => begun).toBe(1);
  vi.advanceTimersByTime(60_000);
  expect(begun).toBe(1);
  end();
  await poll(() => begun).toBe(2);
  const stopped = stop();
  end();
  await stopped;
  vi.advanceTimersByTime(60_000);
  expect([begun, ended]).toEqual([2, 2]);
});

/** Expects a job to be tried after each of some pauses, in milliseconds, and not before. @param tried how often it was so far */
async function expectPauses(pauses: readonly number[], tried: () => number): Promise<void> {
  for (const [i, pause] of pauses.entries()) {
    await isScheduled();
    vi.advanceTimersByTime(pause - 1);
    expect(tried()).toBe(i);
    vi.advanceTimersByTime(1);
    expect(tried()).toBe(i + 1);
  }
  await isScheduled();
}

it("goes on soon with a job that got somewhere before it failed, however often it did", async () => {
  const core = start();
  let [done, tried] = [0, 0];
  onTestFinished(
    begin(core, {
      name: "test.interval",
      everyMs: 1_000,
      progress: () => done,
      run() {
        if (tried++ === 3) done++;
        throw new Error("no room");
      },
    }),
  );
  await expectPauses([1_000, 2_000, 4_000, 8_000, 2_000, 4_000], () => tried);
  expect(core.lines.filter((line) => line.includes("job_failed"))).toHaveLength(1);
  expect(troubledJobs(core)).toMatchObject([{ tries: 6 }]);
});

it("tells once of a job that keeps failing, runs it less often, and forgets that when it works again", async () => {
  const core = start();
  let works = false;
  let tried = 0;
  onTestFinished(
    begin(core, {
      name: "test.interval",
      everyMs: 1_000,
      run() {
        tried++;
        if (!works) throw new Error("no room");
      },
    }),
  );
  await expectPauses([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000], () => tried);
  expect(core.lines.filter((line) => line.includes("job_failed"))).toHaveLength(1);
  expect(await doctor(core)).toMatchObject({ status: "warning", detail: "test.interval failed (7): Error: no room" });
  expect(unfinishedJobs(core)).toEqual([
    { job: "test.interval", waiting: null, tries: 7, cause: "Error: no room", nextTryAt: null },
  ]);
  works = true;
  vi.advanceTimersByTime(30_000);
  await isScheduled();
  expect([troubledJobs(core), (await doctor(core))?.status]).toEqual([[], "ok"]);
  vi.advanceTimersByTime(1_000);
  expect(tried).toBe(9);
});
