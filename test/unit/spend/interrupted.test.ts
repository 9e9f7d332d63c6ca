import { expect, it, onTestFinished, vi } from "vitest";
import { catchUpSpend } from "../../../src/insight/spend/spend.ts";
import { startWithDevice } from "../../support/instance.ts";
import { recount, rolledUp } from "./recount.ts";

const AT = "2026-11-20T10:00:00Z";

/** A clock that jumps whenever it is read: work pauses at each piece, and every transaction exceeds its time. */
function jumping(clock: { monotonic(): number } | Performance): void {
  let now = performance.now();
  const spy =
    "monotonic" in clock
      ? vi.spyOn(clock, "monotonic").mockImplementation(() => (now += 20))
      : vi.spyOn(clock, "now").mockImplementation(() => (now += 20));
  onTestFinished(() => spy.mockRestore());
}

it("counts calls without an id once in a session that grows while it is read", async () => {
  const { t, token } = await startWithDevice();
  const usage = { input_tokens: 5, output_tokens: 1 };
  const deliver = async (spans: readonly object[]) => {
    const sessions = [{ id: "s", outcome: "ok", startedAt: AT, spans }];
    expect((await t.post("/api/agent-traces/ingest", { token, json: { sessions } })).status).toBe(200);
  };
  await deliver([{ id: "first", usage }, ...Array.from({ length: 5_000 }, (_, i) => ({ id: `${i}` }))]);
  jumping(t.clock);
  await Promise.all([catchUpSpend(t.instance.core), deliver([{ id: "second", usage }])]);
  await catchUpSpend(t.instance.core);
  expect(Object.values(rolledUp(t))).toMatchObject([{ usages: 2 }]);
  expect(rolledUp(t)).toEqual(await recount(t));
});

it("counts usage of entries once, although the server stops between two of its transactions", async () => {
  const { t, token } = await startWithDevice();
  const entries = Array.from({ length: 9 }, (_, i) => ({
    seq: i + 1,
    clientTimestamp: AT,
    payload: { sessionId: "s", usage: { ...(i % 3 === 0 ? { id: `m${i}` } : {}), input_tokens: i, output_tokens: 1 } },
  }));
  expect((await t.post("/api/telemetry/ingest", { token, json: { entries } })).status).toBe(200);
  jumping(performance);
  const { store } = t.instance.core;
  const before = store.stats.changes;
  const counted = catchUpSpend(t.instance.core);
  // What was written so far stays, and the rest starts over.
  while (store.stats.changes < before + 2) await new Promise((resolve) => setImmediate(resolve));
  store.db.pragma("query_only = ON");
  await expect(counted).rejects.toThrow();
  store.db.pragma("query_only = OFF");
  await catchUpSpend(t.instance.core);
  expect(rolledUp(t)).toEqual(await recount(t));
});
