import { expect, it } from "vitest";
import { DAY_MS, systemClock } from "../../../src/kit/clock.ts";
import { COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import { openFile } from "../../../src/platform/store/store.ts";
import { planErasure, resolveTarget, setRetention } from "../../../src/share/erasure/erasure.ts";
import { lettingOthersIn } from "../../../src/share/erasure/letting-others-in.ts";
import { runRetention } from "../../../src/share/erasure/nightly.ts";
import { eraseNow } from "../../support/erasure.ts";
import { startInstance, startWithDevice, type TestDevice, type TestInstance } from "../../support/instance.ts";
import { turnsOfOthers } from "../../support/others.ts";
import { stopTime } from "../../support/time.ts";

async function send(t: TestInstance, { token }: TestDevice, count: number) {
  const sessions = Array.from({ length: count }, (_, i) => ({
    id: `s-${i}`,
    outcome: "ok",
    startedAt: "2026-11-20T08:00:00Z",
    spans: [{ id: "a", name: "chat", usage: { id: `m-${i}`, input_tokens: 3, output_tokens: 4 } }],
  }));
  const { status } = await t.post("/api/agent-traces/ingest", { token, json: { repoKey: "shop", sessions } });
  expect(status).toBe(200);
}

it("erases many sessions in few transactions", async () => {
  const { t, core, device } = await startWithDevice();
  await send(t, device, 100);
  await t.instance.settle();
  stopTime();
  const made = core.store.stats.transactions;
  expect(await eraseNow(core, { device: device.deviceId })).toMatchObject({ sessions: 100, spans: 100, usages: 100 });
  expect(t.rows("SELECT count(*) AS n FROM trace_sessions")).toEqual([{ n: 0 }]);
  // Each transaction waits for the disk. A step a transaction made twenty a session, one session after the other four.
  expect(core.store.stats.transactions - made).toBeLessThan(100);
});

it("looks through a machine's many sessions while others get their turn, and removes exactly those that ran out", async () => {
  const { t, core, device } = await startWithDevice();
  await send(t, device, 2);
  await t.instance.settle();
  const columns = t.rows("SELECT name FROM pragma_table_info('trace_sessions')").map(({ name }) => name as string);
  const own: Readonly<Record<string, string>> = {
    id: "i + 10",
    external_id: "'later-' || i",
    updated_at: `iif(i % 5000 = 0, updated_at, updated_at + ${10 * DAY_MS})`,
  };
  core.store.db.exec(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
     INSERT INTO trace_sessions (${columns}) SELECT ${columns.map((name) => own[name] ?? name)} FROM n, trace_sessions WHERE id = 1`,
  );
  await setRetention(core, device.team.id, "traces", 5, COMMAND_LINE);
  t.clock.advance(8 * DAY_MS);
  const target = resolveTarget(core, { device: device.deviceId });
  const { turns, done } = await turnsOfOthers(core, () => planErasure(core, target));
  expect(done.counts.sessions).toBe(20_002);
  expect(turns).toBeGreaterThan(8);
  await runRetention(core, device.team.id);
  expect(t.rows("SELECT count(*) AS n, min(external_id) AS first FROM trace_sessions")).toEqual([
    { n: 19_996, first: "later-1" },
  ]);
});

it("leaves the lock to another writing process for as long as that waits between two tries", async () => {
  const t = await startInstance();
  const { core } = t.instance;
  await t.team({ name: "Acme" });
  const letOthersIn = lettingOthersIn({ store: core.store, clock: systemClock });
  const other = openFile(`${t.directory}/reckon.db`);
  other.prepare("UPDATE teams SET name = name").run();
  other.close();
  // Not after each transaction: those that take no time keep nobody waiting.
  let longest = 0;
  for (const until = performance.now() + 100; performance.now() < until; ) {
    const began = performance.now();
    await letOthersIn();
    longest = Math.max(longest, performance.now() - began);
  }
  expect(longest).toBeGreaterThan(5);
});
