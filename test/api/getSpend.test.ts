import { expect, it } from "vitest";
import { startInstance, startWithDevice, type TestDevice, type TestInstance } from "../support/instance.ts";

const OPUS = "claude-opus-4-6";

async function send(t: TestInstance, device: TestDevice, repoKey: string | undefined, payloads: readonly object[]) {
  const entries = payloads.map((payload, i) => ({ seq: 1 + i, payload, clientTimestamp: "2026-11-20T10:00:00Z" }));
  const answer = await t.post("/api/telemetry/ingest", { token: device.token, json: { repoKey, entries } });
  expect(answer.status).toBe(200);
}

const ask = (t: TestInstance, device: TestDevice, query = "") => t.get(`/api/spend${query}`, { token: device.token });

it("answers with what the team's agents used and what it costs, of everything that was acknowledged before", async () => {
  const { t, device } = await startWithDevice();
  const usage = {
    input_tokens: 100_000,
    output_tokens: 2_000,
    cache_creation_input_tokens: 8_000,
    cache_read_input_tokens: 40_000,
  };
  await send(t, device, "shop", [
    { model: OPUS, usage: { id: "m", ...usage }, costUsd: 0.61 },
    { model: "own-model", usage: { input_tokens: 7, output_tokens: 3 } },
  ]);
  const answer = await ask(t, device);
  expect(answer.status).toBe(200);
  expect(answer.headers.get("cache-control")).toBe("no-store");
  const figures = { cacheWriteTokens: 8_000, cacheReadTokens: 40_000, reportedUsd: 0.61 };
  // 100,000 × $5 + 2,000 × $25 + 8,000 × $6.25 + 40,000 × $0.50 a million
  const usd = 0.62;
  expect(answer.body).toEqual({
    ok: true,
    since: "2026-10-23",
    until: "2026-11-21",
    by: "model",
    currency: "USD",
    priceTable: { date: "2026-11-06", overridden: false },
    total: { usd, ...figures, inputTokens: 100_007, outputTokens: 2_003, unpricedTokens: 10, usages: 2 },
    groupCount: 2,
    groups: [
      { key: OPUS, usd, ...figures, inputTokens: 100_000, outputTokens: 2_000, unpricedTokens: 0, usages: 1 },
      {
        key: "own-model",
        usd: null,
        reportedUsd: null,
        inputTokens: 7,
        outputTokens: 3,
        cacheWriteTokens: 0,
        cacheReadTokens: 0,
        unpricedTokens: 10,
        usages: 1,
      },
    ],
  });
});

it("narrows to days and a repository, groups as asked and shows no more groups than wanted", async () => {
  const { t, device } = await startWithDevice();
  const usage = { input_tokens: 1_000_000 };
  await send(t, device, "shop", [
    { model: OPUS, branch: "main", sessionId: "a", usage },
    { model: OPUS, branch: "topic", sessionId: "b", usage },
    { model: OPUS, branch: "topic", sessionId: "b", usage, at: "2026-08-01T00:00:00Z" },
  ]);
  await send(t, device, "till", [{ model: OPUS, branch: "main", sessionId: "c", usage }]);
  const brief = async (query: string) => {
    const { body } = await ask(t, device, query);
    return [
      body.total.usd,
      body.groupCount,
      body.groups.map((group: { key: string; usd: number }) => [group.key, group.usd]),
    ];
  };
  expect(await brief("?by=branch&since=7d")).toEqual([
    15,
    2,
    [
      ["main", 10],
      ["topic", 5],
    ],
  ]);
  expect(await brief("?by=repo&since=2026-07-01&limit=1")).toEqual([20, 2, [["shop", 15]]]);
  expect(await brief("?by=day&since=2026-07-01&until=2026-11-20T23:00:00Z&repoKey=shop")).toEqual([
    15,
    2,
    [
      ["2026-08-01", 5],
      ["2026-11-20", 10],
    ],
  ]);
  expect(await brief("?by=day&since=2026-07-01&repoKey=shop&limit=1")).toEqual([15, 2, [["2026-11-20", 10]]]);
  expect((await ask(t, device, "?by=session&limit=1")).body.groups[0]).toMatchObject({
    key: "a",
    deviceId: device.deviceId,
  });
  expect((await ask(t, device, "?by=device")).body.groups).toMatchObject([{ key: device.deviceId, usages: 3 }]);
  expect(await brief("?repoKey=unknown")).toEqual([null, 0, []]);
});

it.each([
  ["?since=yesterday", "since"],
  ["?since=2026-02-30", "since"],
  ["?until=30d", "until"],
  ["?by=colour", "by"],
  ["?limit=0", "limit"],
  ["?limit=1001", "limit"],
  ["?repoKey=", "repoKey"],
  ["?since=2026-11-20&until=2026-11-19", "until"],
  ["?from=2026-11-20&to=2026-11-19", "until (or to)"],
])("refuses %s, naming what is wrong", async (query, name) => {
  const t = await startInstance();
  const answer = await ask(t, await t.device(), query);
  expect(answer.status).toBe(400);
  expect(answer.body).toEqual({ error: expect.stringContaining(name) });
});

it("asks to come back while very much spend is uncounted, and answers once it is counted", async () => {
  const { t, device } = await startWithDevice();
  await send(t, device, "shop", [{ model: OPUS, usage: { input_tokens: 1_000_000 } }]);
  const { db } = t.instance.core.store;
  // As after the upgrade of a large database: nothing of it was counted yet.
  db.exec("UPDATE telemetry_segments SET first_id = first_id + 400000");
  const early = await ask(t, device);
  expect([early.status, early.headers.get("retry-after"), Object.keys(early.body)]).toEqual([503, "17", ["error"]]);
  db.exec("UPDATE telemetry_segments SET first_id = first_id - 399000");
  expect((await ask(t, device)).body).toMatchObject({ ok: true, total: { usd: 5 } });
});

it("narrows to usage without a repository, as the lists do, and names valid values of from and to", async () => {
  const { t, device } = await startWithDevice();
  const usage = { input_tokens: 1_000_000 };
  await send(t, device, "shop", [{ model: OPUS, sessionId: "a", usage }]);
  await send(t, device, undefined, [{ model: OPUS, sessionId: "b", usage }]);
  const { body } = await ask(t, device, "?repo=&by=repo");
  expect([body.total.usd, body.groups]).toMatchObject([5, [{ key: "", usages: 1 }]]);
  for (const [query, says] of [
    ["from=2026-02-30", '"from" must be a date such as 2026-11-01'],
    ["to=soon", '"to" must be a date such as 2026-11-30'],
  ] as const)
    expect((await ask(t, device, `?${query}`)).body.error).toContain(says);
});

it("names the valid groupings", async () => {
  const t = await startInstance();
  expect((await ask(t, await t.device(), "?by=team")).body).toEqual({
    error:
      'In the query, "by" must be one of "model", "repo", "branch", "agent", "device", "session", "day", "person".',
  });
});

it("uses the data directory's own prices and goes on answering while they are wrong", async () => {
  const { writeFileSync } = await import("node:fs");
  const { t, device } = await startWithDevice();
  await send(t, device, "shop", [{ model: "own-model", usage: { input_tokens: 1_000_000 } }]);
  const path = `${t.directory}/prices.json`;
  writeFileSync(path, '{"date":"2026-11-01","models":{"own-model":{"input":2,"output":4}}}');
  expect((await ask(t, device)).body).toMatchObject({
    priceTable: { date: "2026-11-01", overridden: true },
    total: { usd: 2, unpricedTokens: 0 },
  });
  writeFileSync(path, "{ this is no price list");
  const answer = await ask(t, device);
  expect([answer.status, answer.body.total.usd]).toEqual([200, 2]);
});
