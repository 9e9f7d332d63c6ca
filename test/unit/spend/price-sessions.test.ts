import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { findSessions } from "../../../src/insight/sessions/sessions.ts";
import { reprice } from "../../../src/insight/spend/price-sessions.ts";
import { Rollup } from "../../../src/insight/spend/rollup.ts";
import { rows } from "../../../src/insight/spend/rows.ts";
import { catchUpSpend } from "../../../src/insight/spend/spend.ts";
import { NO_MEASURES } from "../../../src/insight/spend/usage-record.ts";
import { startWithDevice } from "../../support/instance.ts";

const AT = "2026-11-20T10:00:00Z";
/** All of one session, each in a cell of its own. */
const MODELS = 2_900;
/** The most cells that may be read in one transaction. */
const MOST = 1_000;

/** An instance with sessions of one model and one of very many, to be priced anew. */
async function priced() {
  const { t, token, team, deviceId } = await startWithDevice();
  const span = (i: number) => ({
    id: `${i}`,
    startedAt: AT,
    model: `m-${i}`,
    usage: { input_tokens: 5, output_tokens: 1 },
  });
  const session = (id: string, models: number) => ({
    ...{ id, outcome: "ok", startedAt: AT },
    spans: Array.from({ length: models }, (_, i) => span(i)),
  });
  const sessions = [session("a", 1), session("many", MODELS), session("z", 2)];
  expect((await t.post("/api/agent-traces/ingest", { token, json: { sessions } })).status).toBe(200);
  await catchUpSpend(t.instance.core);
  await reprice(t.instance.core);
  const { core } = t.instance;
  await core.store.write(() => core.store.db.exec("UPDATE session_figures SET tokens = 1; DELETE FROM spend_pricing"));
  // With this clock, long reads pause each time that they may.
  let now = core.clock.monotonic();
  vi.spyOn(core.clock, "monotonic").mockImplementation(() => (now += 20));
  const figures = () => t.rows("SELECT external_id AS session, tokens FROM session_figures ORDER BY external_id");
  return { t, core, team, deviceId, figures };
}

it("prices a session with very many models without reading all of it in one transaction", async () => {
  const { core, figures } = await priced();
  const sql = rows(core.store);
  const { stats } = core.store;
  const read = new Map<number | "outside", number>();
  const all = sql.cellsOfSession.all.bind(sql.cellsOfSession);
  vi.spyOn(sql.cellsOfSession, "all").mockImplementation((...of: Parameters<typeof all>) => {
    const cells = all(...of);
    const within = core.store.db.inTransaction ? stats.transactions : "outside";
    read.set(within, (read.get(within) ?? 0) + cells.length);
    return cells;
  });
  await reprice(core);
  expect(figures()).toEqual([
    { session: "a", tokens: 6 },
    { session: "many", tokens: 6 * MODELS },
    { session: "z", tokens: 12 },
  ]);
  expect(read.get("outside")).toBeGreaterThanOrEqual(MODELS);
  read.delete("outside");
  expect(Math.max(...read.values())).toBeLessThan(MOST);
});

it("prices it correctly although more is reported while it is read, each time", async () => {
  const { core, team, deviceId, figures } = await priced();
  const sql = rows(core.store);
  const all = sql.cellsOfSession.all.bind(sql.cellsOfSession);
  let told = 0;
  vi.spyOn(sql.cellsOfSession, "all").mockImplementation((...of: Parameters<typeof all>) => {
    const cells = all(...of);
    const [{ session, after }] = of;
    // This cell was read already.
    if (session === "many" && after > 0 && !core.store.db.inTransaction) {
      const { context } = cells[0] as NonNullable<(typeof cells)[0]>;
      const day = Math.floor(Date.parse(AT) / 86_400_000);
      const place = { teamId: team.id, deviceId, session, repoKey: "", branch: "", otlp: 0 as const };
      const rollup = new Rollup(core);
      rollup.add({
        dimensions: { ...place, day, model: "m-0", context },
        measures: { ...NO_MEASURES, usages: 1, input: 1 },
        times: 1,
      });
      rollup.flush();
      told++;
    }
    return cells;
  });
  await reprice(core);
  // It is not read again for ever.
  expect(told).toBe(25);
  expect(figures()[1]).toEqual({ session: "many", tokens: 6 * MODELS + told });
});

describe("prices that are taken back", () => {
  /** An instance with more sessions than one transaction prices, each with a million tokens at a dollar. */
  async function atADollar() {
    const { t, core, token, team } = await startWithDevice();
    const cost = (usd: number) =>
      writeFileSync(
        join(t.directory, "prices.json"),
        `{"date":"2026-11-01","models":{"m":{"input":${usd},"output":9}}}`,
      );
    const use = async (spans: number) => {
      const used = Array.from({ length: spans }, (_, i) => ({ id: `${i}`, model: "m", usage: { input_tokens: 1e6 } }));
      const sessions = Array.from({ length: 120 }, (_, i) => ({ id: `s-${i}`, outcome: "ok", spans: used }));
      expect((await t.post("/api/agent-traces/ingest", { token, json: { sessions } })).status).toBe(200);
      await t.instance.settle();
    };
    const listed = async () => [
      ...new Set((await findSessions(core, team.id, { limit: 200 })).rows.map(({ usd }) => usd)),
    ];
    cost(1);
    await use(1);
    await reprice(core);
    return { core, cost, use, listed };
  }

  it("leave no trace in the cost of sessions that they priced meanwhile", async () => {
    const { core, cost, use, listed } = await atADollar();
    cost(100);
    await use(2);
    cost(1);
    await reprice(core);
    expect(await listed()).toEqual([2]);
  });

  it("leave no trace in the cost of sessions that were priced with them when the server stopped", async () => {
    const { core, cost, listed } = await atADollar();
    cost(100);
    const before = core.store.stats.transactions;
    const priced = reprice(core);
    while (core.store.stats.transactions < before + 2) await new Promise((resolve) => setImmediate(resolve));
    core.store.db.pragma("query_only = ON");
    await expect(priced).rejects.toThrow();
    core.store.db.pragma("query_only = OFF");
    expect(await listed()).toEqual(expect.arrayContaining([1, 100]));
    cost(1);
    await reprice(core);
    expect(await listed()).toEqual([1]);
  });
});
