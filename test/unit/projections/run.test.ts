import { expect, it, onTestFinished } from "vitest";
import type { Core } from "../../../src/core.ts";
import { newestDelivery } from "../../../src/log/log.ts";
import { catchUp, failures, type Projection, runProjections } from "../../../src/platform/projections/projections.ts";
import { lagOf } from "../../../src/platform/projections/run.ts";
import { openStore } from "../../../src/platform/store/store.ts";
import { takingIn } from "../../../src/platform/workers/workers.ts";
import { examine } from "../../../src/share/maintenance/maintenance.ts";
import { startInstance, type TestInstance } from "../../support/instance.ts";

/** The positions of deliveries among all, from 1 on; their ids may have holes. */
function places(core: Core, after: number, count: number): number[] {
  const before = "(SELECT min(id) - 1 FROM deliveries)";
  return core.store.db
    .prepare<[number, number], number>(
      `SELECT id - ${before} FROM deliveries WHERE id - ${before} > ? ORDER BY id LIMIT ?`,
    )
    .pluck()
    .all(after, count);
}

/** Sums the positions of deliveries, from 1 on, in a table of its own, `size` of them in a batch. */
function summing(size: number, onApply?: () => void): Projection & { batches: number } {
  const self = {
    name: "test.sum",
    batches: 0,
    next(core: Core, checkpoint: number) {
      const ids = places(core, checkpoint, size);
      const to = ids.at(-1);
      if (to === undefined) return undefined;
      self.batches++;
      return {
        to,
        apply(): undefined {
          core.store.db.prepare("UPDATE summed SET n = n + ?, times = times + 1").run(ids.reduce((a, b) => a + b));
          onApply?.();
        },
      };
    },
  };
  return self;
}

async function deliver(t: TestInstance, token: string, from: number, count: number) {
  for (let seq = from; seq < from + count; seq++) {
    const { status } = await t.post("/api/telemetry/ingest", { token, json: { entries: [{ seq, payload: {} }] } });
    expect(status).toBe(200);
  }
}

async function start() {
  const t = await startInstance();
  t.instance.core.store.db.exec("CREATE TABLE summed (n INTEGER, times INTEGER); INSERT INTO summed VALUES (0, 0)");
  const { token } = await t.device();
  return { t, token, core: t.instance.core, summed: () => t.rows("SELECT n, times FROM summed")[0] };
}

it("reads its source batch by batch to the end, once", async () => {
  const { t, token, core, summed } = await start();
  const projection = summing(2);
  await deliver(t, token, 1, 5);
  await catchUp(core, projection);
  await catchUp(core, projection);
  expect(summed()).toEqual({ n: 15, times: 3 });
  expect(t.rows("SELECT name, checkpoint FROM projections WHERE name = 'test.sum'")).toEqual([
    { name: "test.sum", checkpoint: 5 },
  ]);
  await deliver(t, token, 6, 1);
  await catchUp(core, projection);
  expect(summed()).toEqual({ n: 21, times: 4 });
});

it("undoes the batch whose changes fail, and reads it again", async () => {
  const { t, token, core, summed } = await start();
  let broken = true;
  const projection = summing(10, () => {
    if (broken) throw new Error("cannot");
  });
  await deliver(t, token, 1, 3);
  await expect(catchUp(core, projection)).rejects.toThrow("cannot");
  expect([summed(), t.count("projections WHERE name = 'test.sum'")]).toEqual([{ n: 0, times: 0 }, 0]);
  broken = false;
  await catchUp(core, projection);
  expect(summed()).toEqual({ n: 6, times: 1 });
});

it("counts once when several ask at the same time, also when another process does the same work", async () => {
  const { t, token, core, summed } = await start();
  await deliver(t, token, 1, 8);
  const store = openStore(t.directory, { create: false, now: t.clock.now });
  onTestFinished(() => store.close());
  const other: Core = { ...core, store, state: new Map() };
  await Promise.all([
    catchUp(core, summing(1)),
    catchUp(other, summing(1)),
    catchUp(core, summing(1)),
    catchUp(other, summing(3)),
  ]);
  expect(summed().n).toBe(36);
});

it("stores no part twice when two processes work through the same batch", async () => {
  const { t, token, core, summed } = await start();
  await deliver(t, token, 1, 2);
  const store = openStore(t.directory, { create: false, now: t.clock.now });
  onTestFinished(() => store.close());
  const inParts = {
    ...summing(10),
    name: "test.parts",
    next({ store: { db } }: Core, checkpoint: number) {
      if (checkpoint === 2) return undefined;
      async function* parts() {
        for (let at = db.prepare("SELECT n FROM summed").pluck().get() as number; at < 20; at++)
          yield () => void db.prepare("UPDATE summed SET n = n + 1, times = times + 1").run();
      }
      return { to: 2, before: parts(), apply: () => undefined };
    },
  };
  await Promise.all([catchUp(core, inParts), catchUp({ ...core, store }, inParts)]);
  expect(summed()).toEqual({ n: 20, times: 20 });
});

it("makes changes too many for one transaction in steps, each by itself, and starts over after a failure", async () => {
  const { t, token, core, summed } = await start();
  await deliver(t, token, 1, 2);
  const { stats } = core.store;
  let broken = true;
  const stepwise = {
    ...summing(10),
    name: "test.steps",
    next(_core: Core, checkpoint: number) {
      if (checkpoint === 2) return undefined;
      const step = (n: number) => () => {
        if (n === 3 && broken) throw new Error("no room");
        core.store.db.prepare("UPDATE summed SET n = ?, times = times + 1").run(n);
      };
      return { to: 2, before: [step(1), step(2), step(3)], apply: () => undefined };
    },
  };
  await expect(catchUp(core, stepwise)).rejects.toThrow("no room");
  const standing = () => t.rows("SELECT checkpoint, part FROM projections WHERE name = 'test.steps'");
  expect([summed(), standing()]).toEqual([{ n: 2, times: 2 }, [{ checkpoint: 0, part: 2 }]]);
  broken = false;
  const before = stats.transactions;
  await catchUp(core, stepwise);
  expect(stats.transactions - before).toBe(4);
  expect([summed(), standing()]).toEqual([{ n: 3, times: 5 }, [{ checkpoint: 2, part: 0 }]]);
});

it("sees what was there when it was called, although an earlier call is running", async () => {
  const { t, token, core, summed } = await start();
  await deliver(t, token, 1, 2);
  const first = catchUp(core, summing(1));
  await deliver(t, token, 3, 1);
  await catchUp(core, summing(1));
  expect(summed().n).toBe(6);
  await first;
});

it("ends where its source ended when it began, however fast more arrives", async () => {
  const { t, token, core, summed } = await start();
  const sum = summing(2);
  let sent = 4;
  await deliver(t, token, 1, sent);
  const projection: Projection = {
    ...sum,
    newest: () => t.count("deliveries"),
    async next(core, checkpoint, alone) {
      if (sent < 50) await deliver(t, token, ++sent, 1);
      return sum.next(core, checkpoint, alone);
    },
  };
  await catchUp(core, projection);
  expect([summed(), sent]).toEqual([{ n: 10, times: 2 }, 6]);
  await catchUp(core, projection);
  expect([summed(), sent]).toEqual([{ n: 21, times: 3 }, 7]);
});

it("follows deliveries by itself while an instance runs, and stops when told", async () => {
  const { t, token, core, summed } = await start();
  let look: () => void = () => {};
  // Two deliveries may come in one batch or in two.
  const sum = (n: number) => new Promise<void>((resolve) => (look = () => (summed().n === n ? resolve() : undefined)));
  const stop = runProjections(core, [summing(10, () => look())], newestDelivery);
  onTestFinished(stop);
  let next = sum(3);
  await deliver(t, token, 1, 2);
  await next;
  next = sum(6);
  await deliver(t, token, 3, 1);
  await next;
  await stop();
  expect(summed().n).toBe(6);
});

it("counts the wait of what came in during a run from the run's beginning on", async () => {
  const { t, token, core: served } = await start();
  // Beside the projections that the instance itself keeps up to date.
  const own: Core = { ...served, state: new Map() };
  const lags: number[] = [];
  let second: () => void = () => {};
  const run = new Promise<void>((resolve) => (second = resolve));
  const sum = summing(10);
  const projection: Projection = {
    ...sum,
    newest: () => t.count("deliveries"),
    async next(core, checkpoint, alone) {
      lags.push(lagOf(core));
      if (lags.length === 1) {
        t.clock.advance(700);
        const batch = sum.next(core, checkpoint, alone);
        await deliver(t, token, 2, 1);
        return batch;
      }
      second();
      return sum.next(core, checkpoint, alone);
    },
  };
  await deliver(t, token, 1, 1);
  const stop = runProjections(own, [projection], newestDelivery);
  onTestFinished(stop);
  await run;
  expect(lags).toEqual([0, 700]);
});

it("waits while many deliveries come in, but not for too long, and not when somebody asks", async () => {
  const { t, token, core, summed } = await start();
  const crowd = async () => {
    let leave: () => void = () => {};
    const gone = new Promise<void>((resolve) => (leave = resolve));
    const all = Array.from({ length: 8 }, () => takingIn(core, () => gone));
    return async () => {
      leave();
      await Promise.all(all);
    };
  };
  let applied: () => void = () => {};
  const once = () => new Promise<void>((resolve) => (applied = resolve));
  const projection = summing(10, () => applied());
  const stop = runProjections(core, [projection], newestDelivery);
  onTestFinished(stop);

  // A delivery is noticed first, and only then waited for.
  const waits = () =>
    expect
      .poll(() => {
        t.clock.advance(1);
        return lagOf(core);
      })
      .toBeGreaterThan(20);

  let end = await crowd();
  await deliver(t, token, 1, 1);
  await waits();
  expect(summed().times).toBe(0);
  await catchUp(core, projection);
  expect(summed()).toEqual({ n: 1, times: 1 });
  await end();

  end = await crowd();
  await deliver(t, token, 2, 1);
  await waits();
  let next = once();
  t.clock.advance(2_000);
  await next;
  expect(summed()).toEqual({ n: 3, times: 2 });
  await end();

  end = await crowd();
  await deliver(t, token, 3, 1);
  await waits();
  next = once();
  await end();
  await next;
  expect(summed()).toEqual({ n: 6, times: 3 });
});

it("reports a failure once, and goes on when it can", async () => {
  const { t, token, core, summed } = await start();
  let tries = 0;
  let tell: () => void = () => {};
  const enough = new Promise<void>((resolve) => (tell = resolve));
  const applied = Promise.withResolvers<void>();
  const projection = summing(10, () => {
    tries++;
    if (tries === 3) tell();
    if (tries <= 3) throw new Error("no room");
    applied.resolve();
  });
  const stop = runProjections(core, [projection], newestDelivery);
  onTestFinished(stop);
  await deliver(t, token, 1, 1);
  await enough;
  await applied.promise;
  await stop();
  expect(t.log.filter((line) => line.includes("projection_failed"))).toHaveLength(1);
  expect(summed()).toEqual({ n: 1, times: 1 });
});

/** Like `summing`, but fails on the deliveries of these numbers, and says where to go on. */
function refusing(size: number, poison: readonly number[], where: "next" | "apply"): Projection {
  const refuse = (found: readonly number[]) => {
    const bad = found.find((id) => poison.includes(id));
    if (bad !== undefined) throw new TypeError(`cannot read ${bad}`);
  };
  return {
    name: "test.sum",
    next(core, checkpoint, alone) {
      const found = places(core, checkpoint, alone ? 1 : size);
      const to = found.at(-1);
      if (to === undefined) return undefined;
      if (where === "next") refuse(found);
      return {
        to,
        apply(): undefined {
          const sum = found.reduce((a, b) => a + b);
          core.store.db.prepare("UPDATE summed SET n = n + ?, times = times + 1").run(sum);
          refuse(found);
        },
      };
    },
    skip: (core, checkpoint) => places(core, checkpoint, 1)[0],
  };
}

it.each(["next", "apply"] as const)("passes over the one row that fails in %s, and over no other", async (where) => {
  const { t, token, core, summed } = await start();
  await deliver(t, token, 1, 9);
  await catchUp(core, refusing(4, [3, 7], where));
  expect(summed().n).toBe(45 - 3 - 7);
  expect(failures(core)).toEqual([
    { name: "test.sum", count: 2, checkpoint: 7, failedAt: t.clock.now(), cause: "cannot read 7" },
  ]);
  expect(t.log.filter((line) => line.includes("projection_skipped_poison"))).toHaveLength(2);
  expect((await examine(core)).find(({ check }) => check === "derived tables")).toEqual({
    ...{ check: "derived tables", status: "warning" },
    detail: expect.stringMatching(/^2 could not be processed.*test\.sum at 7 \(.*Z\): cannot read 7$/),
  });
  await deliver(t, token, 10, 1);
  await catchUp(core, refusing(4, [3, 7], where));
  expect(summed().n).toBe(45);
});

it("skips nothing that fails once, however often something does, and returns to reading many rows at a time", async () => {
  const { t, token, core, summed } = await start();
  await deliver(t, token, 1, 60);
  const failing = new Set([4, 5, 7, 20, 22]);
  const all = refusing(4, [], "next");
  const projection: Projection = {
    ...all,
    next(core, checkpoint, alone) {
      if (failing.delete(checkpoint)) throw new TypeError("only now");
      return all.next(core, checkpoint, alone);
    },
  };
  await catchUp(core, projection);
  expect([summed().n, failures(core)]).toEqual([(60 * 61) / 2, []]);
  expect(summed().times).toBeLessThan(30);
});

it("skips nothing while the system can open no file, and goes on when it can", async () => {
  const { t, token, core, summed } = await start();
  await deliver(t, token, 1, 3);
  const all = refusing(4, [], "next");
  let isShort = true;
  const projection: Projection = {
    ...all,
    next(...args) {
      if (isShort) throw Object.assign(new Error("EMFILE: too many open files"), { code: "EMFILE", syscall: "open" });
      return all.next(...args);
    },
  };
  for (let i = 0; i < 3; i++) await expect(catchUp(core, projection)).rejects.toThrow("too many open files");
  expect([summed().n, failures(core)]).toEqual([0, []]);
  isShort = false;
  await catchUp(core, projection);
  expect([summed().n, failures(core)]).toEqual([6, []]);
});

it("forgets what it skipped when it starts over, and waits while nothing can be stored", async () => {
  const { t, token, core, summed } = await start();
  await deliver(t, token, 1, 2);
  await catchUp(core, refusing(4, [1], "next"));
  expect(failures(core)).toHaveLength(1);
  core.store.db.exec("DELETE FROM projections; UPDATE summed SET n = 0");
  core.store.db.pragma("query_only = 1");
  await expect(catchUp(core, refusing(4, [], "next"))).rejects.toThrow("the store could not take the write");
  core.store.db.pragma("query_only = 0");
  await catchUp(core, refusing(4, [], "next"));
  expect([summed().n, failures(core)]).toEqual([3, []]);
});

it("lets the projections after a failing one go on", async () => {
  const { t, token, core, summed } = await start();
  const applied = Promise.withResolvers<void>();
  const broken: Projection = {
    name: "test.broken",
    next() {
      throw new Error("never");
    },
  };
  const stop = runProjections(core, [broken, summing(10, () => applied.resolve())], newestDelivery);
  onTestFinished(stop);
  await deliver(t, token, 1, 1);
  await applied.promise;
  await stop();
  expect(summed()).toEqual({ n: 1, times: 1 });
});

it("stops between two batches, however much is left, and continues from there the next time", async () => {
  const { t, token, core, summed } = await start();
  await deliver(t, token, 1, 30);
  const begun = Promise.withResolvers<void>();
  const projection = summing(1, () => begun.resolve());
  const stop = runProjections(core, [projection], newestDelivery);
  // A reader who waits for it does not delay the stop either.
  const reader = catchUp(core, projection);
  await begun.promise;
  await stop();
  await expect(reader).rejects.toThrow("the server is stopping");
  const { times } = summed();
  expect(times).toBeLessThan(30);
  expect(t.log.filter((line) => line.includes("projection_failed"))).toEqual([]);
  const again = runProjections(core, [], newestDelivery);
  await catchUp(core, summing(1));
  await again();
  expect(summed()).toEqual({ n: 465, times: 30 });
});

it("writes changes that do not read each other together, the last with the checkpoint", async () => {
  const { t, token, core, summed } = await start();
  await deliver(t, token, 1, 2);
  const { stats } = core.store;
  const together = {
    ...summing(10),
    name: "test.together",
    next(_core: Core, checkpoint: number) {
      if (checkpoint === 2) return undefined;
      const change = () => core.store.db.prepare("UPDATE summed SET n = n + 1").run();
      return { to: 2, changes: Array.from({ length: 600 }, () => change) };
    },
  };
  const before = stats.transactions;
  await catchUp(core, together);
  expect([summed().n, stats.transactions - before]).toEqual([600, 3]);
  expect(t.rows("SELECT checkpoint, part FROM projections WHERE name = 'test.together'")).toEqual([
    { checkpoint: 2, part: 0 },
  ]);
});
