import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { findSessions, SORTS, sumSessions } from "../../../src/insight/sessions/sessions.ts";
import { reprice } from "../../../src/insight/spend/price-sessions.ts";
import { DAY_MS } from "../../../src/kit/clock.ts";
import { apiToken } from "../../support/api.ts";
import { startInstance, type TestDevice, type TestInstance } from "../../support/instance.ts";

const START = Date.UTC(2026, 10, 20, 9);
const at = (minutes: number) => new Date(START + minutes * 60_000).toISOString();

const send = async (t: TestInstance, { token }: TestDevice, sessions: object[]) => {
  const json = { repoKey: "shop", sessions: sessions.map((one) => ({ outcome: "success", spans: [], ...one })) };
  expect((await t.post("/api/agent-traces/ingest", { token, json })).status).toBe(200);
};
const call = (i: number, output: number) => ({
  id: `c-${i}`,
  kind: "llm",
  name: "chat",
  usage: { id: `m-${i}`, input_tokens: 10, output_tokens: output },
  startedAt: at(i),
});

/** Thirty sessions with as many different figures of each kind, two of them without any. */
async function filled(t: TestInstance) {
  const device = await t.device();
  await send(
    t,
    device,
    Array.from({ length: 30 }, (_, i) => ({
      id: `s-${i}`,
      outcome: i % 3 === 0 ? "failed" : "completed",
      ...(i === 7 ? {} : { startedAt: at(i), endedAt: at(i + ((i * 7) % 30)) }),
      model: i === 5 ? "nobody-knows-it" : "claude-sonnet-4-5",
      spans: [
        ...(i === 9 ? [] : [call(i, ((i * 11) % 31) * 1_000)]),
        ...Array.from({ length: (i * 13) % 7 }, (_, k) => ({
          id: `f-${k}`,
          kind: "tool",
          attributes: { "process.exit.code": k + 1 },
        })),
        { id: "fine", kind: "tool", attributes: { "process.exit.code": 0 }, status: "ok" },
      ],
    })),
  );
  await t.instance.settle();
  return { device, team: device.team.id };
}

it("shows sessions without a start only in the list of all days, as the read API does", async () => {
  const t = await startInstance();
  const { team } = await filled(t);
  const { core } = t.instance;
  const token = await apiToken(t, team);
  const days = { to: START + DAY_MS };
  const { rows } = await findSessions(core, team, { ...days, limit: 200 });
  const { items } = (await t.get("/api/sessions?limit=200&to=2026-11-21T09:00:00Z", { token })).body;
  expect([rows.length, items.length]).toEqual([29, 29]);
  expect(await sumSessions(core, team, days)).toMatchObject({ sessions: 29, partial: false });
  expect(await sumSessions(core, team)).toMatchObject({ sessions: 30, partial: false });
  expect((await findSessions(core, team, { limit: 200 })).rows.length).toBe(30);
});

it("orders by each figure, up and down, the same on whatever pages and on the way back", async () => {
  const t = await startInstance();
  const { team } = await filled(t);
  const { core } = t.instance;
  for (const sort of SORTS)
    for (const ascending of [false, true]) {
      const whole = (await findSessions(core, team, { sort, ascending, limit: 200 })).rows;
      const figure = (one: (typeof whole)[number]) =>
        ({
          started: one.startedAt ?? -1,
          duration: one.duration ?? -1,
          cost: one.usd ?? -1,
          errors: one.failedSteps + one.caused,
          tokens: one.tokens,
        })[sort];
      const figures = whole.map(figure);
      expect(figures, sort).toEqual(figures.toSorted((a, b) => (ascending ? a - b : b - a)));
      expect(new Set(figures).size, sort).toBeGreaterThan(5);
      const pages = [await findSessions(core, team, { sort, ascending, limit: 7 })];
      for (let older = pages[0]?.older; older; older = pages.at(-1)?.older)
        pages.push(await findSessions(core, team, { sort, ascending, limit: 7, cursor: older }));
      expect(pages.flatMap(({ rows }) => rows.map(({ id }) => id))).toEqual(whole.map(({ id }) => id));
      const back = await findSessions(core, team, { sort, ascending, limit: 7, cursor: pages[2]?.newer });
      expect(back.rows).toEqual(pages[1]?.rows);
    }
});

it("pages correctly while sessions arrive", async () => {
  const t = await startInstance();
  const { team, device } = await filled(t);
  const { core } = t.instance;
  const before = (await findSessions(core, team, { sort: "cost", limit: 200 })).rows.map(({ id }) => id);
  const seen: number[] = [];
  let cursor: string | undefined;
  for (let i = 0; ; i++) {
    const page = await findSessions(core, team, { sort: "cost", limit: 4, cursor });
    seen.push(...page.rows.map(({ id }) => id));
    await send(t, device, [{ id: `late-${i}`, model: "claude-sonnet-4-5", spans: [call(100 + i, 1 + i * 7_000)] }]);
    await t.instance.settle();
    cursor = page.older;
    if (!cursor || i > 30) break;
  }
  expect(seen.filter((id) => before.includes(id))).toEqual(before);
  expect(new Set(seen).size).toBe(seen.length);
});

it("finds the few that fit among many, in every order", async () => {
  const t = await startInstance();
  const { device, team } = await filled(t);
  const { core } = t.instance;
  await core.store.write(() => {
    const put =
      core.store.db.prepare(`INSERT INTO session_figures (team_id, device_id, external_id, session_id, repo_key, branch, agent,
      model, outcome, result, title, started_at, duration, commits, failed_steps, caused, tokens, unpriced, cost_nano, cost_rest)
      VALUES (?, ?, ?, ?, 'other', 'main', '', '', '', 'unknown', NULL, ?, 9e8, 0, 99, 0, 9e9, 0, 9e12, 0)`);
    for (let i = 0; i < 5_000; i++) put.run(team, device.deviceId, `many-${i}`, 1_000 + i, START + 1e9 + i);
  });
  for (const sort of SORTS)
    for (const ascending of [false, true]) {
      const first = await findSessions(core, team, { sort, ascending, repoKey: "shop", limit: 20 });
      const second = await findSessions(core, team, {
        sort,
        ascending,
        repoKey: "shop",
        limit: 20,
        cursor: first.older,
      });
      expect([first.rows.length, second.rows.length, second.older], sort).toEqual([20, 10, undefined]);
      const failed = await findSessions(core, team, { sort, ascending, result: "failed" });
      expect(failed.rows.length, sort).toBe(10);
    }
  expect(await sumSessions(core, team, { result: "failed" })).toMatchObject({
    sessions: 10,
    failed: 10,
    partial: false,
  });
});

it("counts failed steps, costs and results as the rest of the product does", async () => {
  const t = await startInstance();
  const { device, team } = await filled(t);
  const { rows } = await findSessions(t.instance.core, team, { limit: 200 });
  const { body } = await t.get("/api/spend?by=session&since=2026-11-01&limit=100", { token: device.token });
  for (const { key, usd, unpricedTokens } of body.groups)
    expect(rows.find(({ externalId }) => externalId === key)).toMatchObject({ usd, unpriced: unpricedTokens });
  const total = await sumSessions(t.instance.core, team);
  expect(total).toMatchObject({ sessions: 30, succeeded: 20, failed: 10, unpriced: 1 });
  expect(total.usd).toBeCloseTo(body.total.usd, 8);
  expect(rows.find(({ externalId }) => externalId === "s-2")).toMatchObject({ failedSteps: 5, result: "succeeded" });
});

it("prices sessions anew when prices change", async () => {
  const t = await startInstance();
  const { team } = await filled(t);
  const { core } = t.instance;
  await reprice(core);
  const unpriced = async () =>
    (await findSessions(core, team, { limit: 200 })).rows.find(({ externalId }) => externalId === "s-5");
  expect(await unpriced()).toMatchObject({ usd: null });
  const prices = { date: "2026-11-01", models: { "nobody-knows-it": { input: 1, output: 1_000 } } };
  writeFileSync(join(t.directory, "prices.json"), JSON.stringify(prices));
  await reprice(core);
  const found = await unpriced();
  expect(found?.usd).toBeCloseTo(((found?.tokens as number) - 10) / 1_000 + 10 / 1_000_000, 6);
});

it("gives the sums of a recount, whatever comes, changes and goes between two looks", async () => {
  const t = await startInstance();
  const { device, team } = await filled(t);
  const { core } = t.instance;
  const filters = [
    {},
    { repoKey: "shop" },
    { result: "failed" as const },
    { model: "claude-sonnet-4-5", minUsd: 0.1 },
    { deviceIds: [device.deviceId] },
    { minErrors: 2 },
    { from: START + 60_000, to: START + 20 * 60_000 },
    { from: START - 5 * DAY_MS, to: START + 40 * DAY_MS },
  ];
  const check = async () => {
    await t.instance.settle();
    for (const filter of filters) {
      const { rows } = await findSessions(core, team, { ...filter, limit: 200 });
      const of = (result: string) => rows.filter((row) => row.result === result).length;
      const costs = rows.flatMap(({ usd }) => usd ?? []);
      const { usd, ...sums } = await sumSessions(core, team, filter);
      expect(sums, JSON.stringify(filter)).toEqual({
        sessions: rows.length,
        succeeded: of("succeeded"),
        failed: of("failed"),
        stopped: of("stopped"),
        unpriced: rows.filter(({ unpriced }) => unpriced > 0).length,
        commits: rows.reduce((sum, { commits }) => sum + commits, 0),
        partial: false,
      });
      expect(usd ?? 0, JSON.stringify(filter)).toBeCloseTo(
        costs.reduce((a, b) => a + b, 0),
        6,
      );
    }
  };
  await check();
  // One grows, one turns out to have failed, one is of another day, one has no day, and one is new.
  await send(t, device, [{ id: "s-1", startedAt: at(1), spans: [call(1, 50_000), call(101, 9_000)] }]);
  await check();
  await send(t, device, [{ id: "s-2", outcome: "failed", startedAt: at(2), commits: [{ sha: "ab".repeat(20) }] }]);
  await check();
  await send(t, device, [
    { id: "s-3", startedAt: at(30 * 24 * 60) },
    { id: "s-4" },
    { id: "new", startedAt: at(9 * 24 * 60) },
  ]);
  await check();
  writeFileSync(
    join(t.directory, "prices.json"),
    JSON.stringify({ date: "2026-11-01", models: { "claude-sonnet-4-5": { input: 300, output: 1_500 } } }),
  );
  await reprice(core);
  await check();
});

it("searches a text within its budget, says so, and continues from there", async () => {
  const t = await startInstance();
  const { device, team } = await filled(t);
  const { core } = t.instance;
  const said = ['Say "100 % done_" \\ twice', "Straße ÄRGER", "plain Needle"];
  await send(
    t,
    device,
    said.map((text, i) => ({ id: `said-${i}`, startedAt: at(-60 - i), prompts: [{ text }] })),
  );
  await t.instance.settle();
  const found = async (text: string) =>
    (await findSessions(core, team, { text })).rows.map(({ externalId }) => externalId);
  for (const text of ['"100 % DONE_"', "100 %", "done_", "\\ twice"])
    expect(await found(text), text).toEqual(["said-0"]);
  for (const text of ["straße", "ärger", "STRASSE"])
    expect(await found(text), text).toEqual(text === "STRASSE" ? [] : ["said-1"]);
  expect(await found("NEEDLE")).toEqual(["said-2"]);
  expect(await found("10% done")).toEqual([]);
  await core.store.write(() => {
    const put =
      core.store.db.prepare(`INSERT INTO session_figures (team_id, device_id, external_id, session_id, repo_key, branch, agent,
      model, outcome, result, title, started_at, duration, commits, failed_steps, caused, tokens, unpriced, cost_nano, cost_rest)
      VALUES (?, ?, ?, ?, 'other', 'main', '', '', '', 'unknown', NULL, ?, 9e8, 0, 99, 0, 9e9, 0, 9e12, 0)`);
    for (let i = 0; i < 10_500; i++) put.run(team, device.deviceId, `many-${i}`, 1_000 + i, START + 1e9 + i);
  });
  for (const sort of SORTS) {
    const first = await findSessions(core, team, { text: "needle", sort });
    expect([first.rows, first.partial, first.examined], sort).toEqual([[], true, 10_000]);
    const { rows, partial, examined } = await findSessions(core, team, { text: "needle", sort, cursor: first.older });
    expect([rows.map(({ externalId }) => externalId), partial, examined], sort).toEqual([["said-2"], false, 533]);
  }
});
