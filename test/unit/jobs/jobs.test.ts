import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { readConfig } from "../../../src/config.ts";
import type { Core } from "../../../src/core.ts";
import { createLog } from "../../../src/kit/log.ts";
import { systemRandom } from "../../../src/kit/random.ts";
import { type Job, startJobs, troubledJobs } from "../../../src/platform/jobs/jobs.ts";
import { openStore } from "../../../src/platform/store/store.ts";
import { examine } from "../../../src/share/maintenance/maintenance.ts";
import { TestClock } from "../../support/instance.ts";

interface TestCore extends Core {
  readonly clock: TestClock;
  readonly lines: string[];
}

function start(): TestCore {
  const directory = mkdtempSync(join(tmpdir(), "reckon-jobs-"));
  const clock = new TestClock();
  const store = openStore(directory, { now: clock.now });
  onTestFinished(() => {
    store.close();
    rmSync(directory, { recursive: true, force: true });
  });
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

/** Runs jobs with timers that the test moves. */
function begin(core: Core, ...jobs: Job[]): () => Promise<void> {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  return startJobs(core, jobs);
}

/** Waits for a run to end, whose last act is to set the next timer. */
async function isScheduled(): Promise<void> {
  while (vi.getTimerCount() === 0) await new Promise(setImmediate);
}

/** Lets timers run down until the condition holds. */
const poll = <T>(read: () => T) =>
  expect.poll(() => {
    vi.advanceTimersByTime(30_000);
    return read();
  });

const doctor = async (core: Core) => (await examine(core)).find(({ check }) => check === "background jobs");

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

it("repeats a job soon that made progress before it failed, however often", async () => {
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

it("rests for an hour after the clock was set where a job needs it, and not after the start", async () => {
  const core = start();
  let [tried, others] = [0, 0];
  onTestFinished(
    begin(
      core,
      { name: "test.needs", everyMs: 60_000, needsClock: true, run: () => void tried++ },
      { name: "test.other", everyMs: 60_000, run: () => void others++ },
    ),
  );
  const minutes = async (count: number) => {
    for (let i = 0; i < count; i++) {
      core.clock.advance(60_000);
      vi.advanceTimersByTime(60_000);
      await isScheduled();
    }
    return [tried, others];
  };
  expect(await minutes(1)).toEqual([1, 1]);
  core.clock.jump(400 * 86_400_000);
  expect(await minutes(1)).toEqual([1, 2]);
  core.clock.jump(-400 * 86_400_000);
  expect(await minutes(60)).toEqual([1, 62]);
  expect(await minutes(1)).toEqual([2, 63]);
});

it("reports a failing job once, runs it less often, and forgets the failure when it works again", async () => {
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
  expect(await doctor(core)).toMatchObject({ status: "warning", detail: "test.interval failed (7): no room" });
  expect(troubledJobs(core)).toEqual([{ job: "test.interval", tries: 7, cause: "no room" }]);
  works = true;
  vi.advanceTimersByTime(30_000);
  await isScheduled();
  expect([troubledJobs(core), (await doctor(core))?.status]).toEqual([[], "ok"]);
  vi.advanceTimersByTime(1_000);
  expect(tried).toBe(9);
});
