import { expect, it } from "vitest";
import { catchUpSpend, type Grouping, spendReport } from "../../../src/insight/spend/spend.ts";
import { DAY_MS } from "../../../src/kit/clock.ts";
import { startWithDevice } from "../../support/instance.ts";
import { recount, rolledUp } from "./recount.ts";

const AT = "2026-11-20T10:00:00Z";
const OPUS = "claude-opus-4-6";

async function start() {
  const { t, device } = await startWithDevice();
  let seq = 0;
  const send = async (path: string, json: object, token = device.token) => {
    const answer = await t.post(path, { token, json });
    expect(answer.status, answer.text).toBe(200);
  };
  return {
    t,
    device,
    /** Payloads as entries of one batch. */
    entries: (payloads: readonly object[], repoKey = "shop", token?: string) =>
      send(
        "/api/telemetry/ingest",
        { repoKey, entries: payloads.map((payload) => ({ seq: ++seq, payload, clientTimestamp: AT })) },
        token,
      ),
    session: (session: object, repoKey = "shop", token?: string) =>
      send(
        "/api/agent-traces/ingest",
        { repoKey, sessions: [{ outcome: "completed", startedAt: AT, spans: [], ...session }] },
        token,
      ),
    async report(by: Grouping = "model", repoKey?: string) {
      await catchUpSpend(t.instance.core);
      const day = Date.parse(AT);
      return spendReport(t.instance.core, device.team.id, { from: day, to: day, by, repoKey });
    },
  };
}

const usage = (input: number, output: number, id?: string) => ({
  ...(id === undefined ? {} : { id }),
  input_tokens: input,
  output_tokens: output,
});

it("counts a message once, by its largest output, whoever reports it and when", async () => {
  const { entries, session, report } = await start();
  await entries([
    { model: OPUS, usage: usage(10, 1, "m") },
    { model: OPUS, usage: usage(10, 5, "m") },
  ]);
  expect((await report()).total).toMatchObject({ usages: 1, inputTokens: 10, outputTokens: 5 });
  await session({ id: "s", model: OPUS, spans: [{ id: "1", usage: usage(10, 7, "m") }] });
  expect((await report()).total).toMatchObject({ usages: 1, inputTokens: 10, outputTokens: 7 });
  await session({ id: "copy", model: OPUS, spans: [{ id: "1", usage: usage(10, 7, "m") }] });
  await entries([{ model: OPUS, usage: usage(10, 3, "m") }]);
  expect((await report()).total).toMatchObject({ usages: 1, inputTokens: 10, outputTokens: 7 });
});

it("falls back on other reports of a message when a span that reported more is replaced", async () => {
  const { entries, session, report } = await start();
  await entries([{ model: OPUS, usage: usage(10, 5, "m") }]);
  await session({ id: "s", spans: [{ id: "1", usage: usage(10, 9, "m") }] });
  expect((await report()).total.outputTokens).toBe(9);
  await session({ id: "s", spans: [{ id: "1", usage: usage(10, 2, "m") }] });
  expect((await report()).total.outputTokens).toBe(5);
});

it("counts usage without an id as often as telemetry or the session reports it, not the sum of both", async () => {
  const { entries, session, report } = await start();
  const told = { sessionId: "s", model: OPUS, usage: usage(10, 1) };
  await entries([told, told, { ...told, usage: usage(20, 2) }]);
  await session({
    id: "s",
    spans: [
      { id: "1", usage: usage(10, 1) },
      { id: "2", usage: usage(10, 1) },
      { id: "3", usage: usage(10, 1) },
      { id: "4", usage: usage(30, 3) },
    ],
  });
  // Three of (10, 1) from the spans, one of (20, 2) from telemetry, one of (30, 3) from a span.
  expect((await report()).total).toMatchObject({ usages: 5, inputTokens: 80, outputTokens: 8 });
  await entries([{ ...told, sessionId: "another" }]);
  expect((await report()).total.usages).toBe(6);
});

it("knows the session of an entry by either of its names, and counts what both tell once", async () => {
  const { entries, session, report } = await start();
  await session({ id: "s", spans: [{ id: "1", usage: usage(10, 1) }] });
  await entries([{ session_id: "s", model: OPUS, usage: usage(10, 1) }]);
  expect((await report("session")).groups).toMatchObject([{ key: "s", usages: 1, inputTokens: 10 }]);
});

it("believes no time that lies more than a day after the arrival: usage of a wrong clock counts when it came", async () => {
  const { t, device, entries, session, report } = await start();
  const [now, ahead] = [t.clock.now(), "2027-11-20T10:00:00Z"];
  await entries([
    { model: OPUS, at: ahead, usage: usage(1, 0) },
    { model: OPUS, at: new Date(now + DAY_MS + 1).toISOString(), usage: usage(2, 0) },
    { model: OPUS, at: new Date(now + DAY_MS).toISOString(), usage: usage(3, 0) },
    { model: OPUS, at: "2025-11-20T10:00:00Z", usage: usage(4, 0) },
  ]);
  // A batch without a time of its own that can be believed either.
  const late = {
    repoKey: "late",
    entries: [{ seq: 1, clientTimestamp: ahead, payload: { model: OPUS, usage: usage(5, 0) } }],
  };
  await t.post("/api/telemetry/ingest", { token: device.token, json: late });
  const span = (id: string, at: string, input: number) => ({ id, startedAt: at, usage: usage(input, 0) });
  await session({ id: "a", model: OPUS, startedAt: ahead, endedAt: ahead, spans: [span("1", ahead, 6)] });
  await session({ id: "b", model: OPUS, startedAt: "2026-11-19T10:00:00Z", spans: [span("1", ahead, 7)] });
  await report();
  const days = spendReport(t.instance.core, device.team.id, { from: 0, to: Date.parse("2030-01-01"), by: "day" });
  expect(days.groups.map(({ key, inputTokens }) => [key, inputTokens])).toEqual([
    ["2025-11-20", 4],
    ["2026-11-19", 7],
    ["2026-11-20", 3],
    ["2026-11-21", 11],
    ["2026-11-22", 3],
  ]);
  expect(rolledUp(t)).toEqual(await recount(t));
});

/** Cache writes for an hour as Anthropic reports them, and as OpenTelemetry, which has no word for that, reports them. */
const FOR_AN_HOUR = {
  input_tokens: 10,
  output_tokens: 20,
  cache_creation_input_tokens: 500,
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 500 },
  cache_read_input_tokens: 7,
};
const IN_ATTRIBUTES = {
  "gen_ai.operation.name": "chat",
  "gen_ai.response.model": OPUS,
  "gen_ai.usage.input_tokens": 517,
  "gen_ai.usage.output_tokens": 20,
  "gen_ai.usage.cache_read.input_tokens": 7,
  "gen_ai.usage.cache_creation.input_tokens": 500,
};
// Dollars a million tokens: input 5, output 25, writing 6.25 or, for an hour, 10, reading 0.50.
const HOUR_USD = (10 * 5 + 20 * 25 + 500 * 10 + 7 * 0.5) / 1e6;
const ONE_CALL = { usages: 1, inputTokens: 10, outputTokens: 20, cacheWriteTokens: 500, cacheReadTokens: 7 };

it.each(["telemetry first", "spans first"])(
  "counts a call of telemetry and a span once, by the report that knows the cache's lifetime, %s",
  async (order) => {
    const { entries, session, report } = await start();
    const tellings = [
      () => entries([{ sessionId: "s", model: OPUS, usage: FOR_AN_HOUR }]),
      () => session({ id: "s", spans: [{ id: "1", attributes: IN_ATTRIBUTES }] }),
    ];
    for (const tell of order === "spans first" ? tellings.toReversed() : tellings) {
      await tell();
      await report();
    }
    expect((await report()).total).toMatchObject({ ...ONE_CALL, usd: HOUR_USD });
    // Two equal calls stay two where one side reports both, whatever the other side reported.
    await session({ id: "s", spans: [{ id: "2", attributes: IN_ATTRIBUTES }] });
    expect((await report()).total).toMatchObject({ usages: 2, cacheWriteTokens: 1_000, cacheReadTokens: 14 });
    await entries([{ sessionId: "s", model: OPUS, usage: FOR_AN_HOUR }]);
    expect((await report()).total).toMatchObject({ usages: 2, usd: 2 * HOUR_USD });
  },
);

it.each([
  ["telemetry", "the spans"],
  ["the spans", "telemetry"],
])(
  "counts a call once that %s reports with the message's id and %s without it, in any order",
  async (withId, without) => {
    const telling = {
      telemetry: (one: Awaited<ReturnType<typeof start>>, id: string | undefined) =>
        one.entries([{ sessionId: "s", usage: usage(10, 5, id) }]),
      "the spans": (one: Awaited<ReturnType<typeof start>>, id: string | undefined) =>
        one.session({ id: "s", spans: [{ id: id ?? "none", usage: usage(10, 5, id) }] }),
    };
    const of = (who: string) => telling[who as keyof typeof telling];
    const once = { usages: 1, inputTokens: 10, outputTokens: 5 };
    for (const first of [withId, without]) {
      const one = await start();
      await of(first)(one, first === withId ? "m" : undefined);
      expect((await one.report()).total, first).toMatchObject(once);
      await of(first === withId ? without : withId)(one, first === withId ? undefined : "m");
      expect((await one.report()).total, first).toMatchObject(once);
      // A second message with these figures is a call of its own: the report without an id can match only one of them.
      await of(withId)(one, "n");
      expect((await one.report()).total, first).toMatchObject({ usages: 2, inputTokens: 20 });
    }
  },
);

it("matches a report without an id with one message at most, and none of its own side or of another session", async () => {
  const one = await start();
  await one.entries([
    { sessionId: "s", model: OPUS, usage: usage(10, 5, "m") },
    { sessionId: "s", model: OPUS, usage: usage(10, 5) },
  ]);
  expect((await one.report()).total.usages).toBe(2);
  const spans = ["1", "2", "3"].map((id) => ({ id, usage: usage(10, 5) }));
  await one.session({ id: "t", spans: spans.slice(0, 1) });
  expect((await one.report()).total.usages).toBe(3);
  // One is m, one is the entry without an id, and one nobody else reports.
  await one.session({ id: "s", spans });
  expect((await one.report()).total.usages).toBe(4);
  await one.session({ id: "s", spans: spans.map((span) => ({ ...span, usage: usage(0, 0) })) });
  expect((await one.report()).total.usages).toBe(3);
});

it("follows a message whose output grows, and a span that is replaced by another", async () => {
  const { entries, session, report } = await start();
  const told = (output: number) => ({ sessionId: "s", model: OPUS, usage: usage(10, output, "m") });
  await session({ id: "s", spans: [{ id: "1", usage: usage(10, 9) }] });
  await entries([told(3)]);
  expect((await report()).total).toMatchObject({ usages: 2, outputTokens: 12 });
  await entries([told(9)]);
  expect((await report()).total).toMatchObject({ usages: 1, outputTokens: 9 });
  await session({ id: "s", spans: [{ id: "1", usage: usage(10, 8) }] });
  expect((await report()).total).toMatchObject({ usages: 2, outputTokens: 17 });
  await session({ id: "s", spans: [{ id: "1", usage: usage(10, 8, "m") }] });
  expect((await report()).total).toMatchObject({ usages: 1, outputTokens: 9 });
});

it("takes from the side without an id what it knows of a message: the cache's lifetime, the model, the cost", async () => {
  const { entries, session, report } = await start();
  const { cache_creation: _, ...whole } = FOR_AN_HOUR;
  await session({ id: "s", spans: [{ id: "1", usage: { ...whole, id: "m" } }] });
  expect((await report()).total).toMatchObject({ usages: 1, usd: null, reportedUsd: null });
  await entries([{ sessionId: "s", model: OPUS, usage: FOR_AN_HOUR, costUsd: 0.25 }]);
  expect((await report()).groups).toMatchObject([{ key: OPUS, ...ONE_CALL, usd: HOUR_USD, reportedUsd: 0.25 }]);
});

it("treats a model's name with and without its date as the same, and keeps telemetry's", async () => {
  const { entries, session, report } = await start();
  const tell = (models: readonly string[]) =>
    entries(models.map((model) => ({ sessionId: "s", model, usage: usage(10, 5) })));
  await tell(["claude-haiku-4-5", OPUS]);
  await session({
    id: "s",
    spans: ["claude-opus-4-6-20260205", "claude-haiku-4-5-20251001", "claude-haiku-4-5-20251001"].map((model, i) => ({
      id: String(i),
      usage: usage(10, 5),
      attributes: { "gen_ai.response.model": model },
    })),
  });
  expect((await report()).groups.map(({ key, usages }) => [key, usages])).toEqual([
    [OPUS, 1],
    ["claude-haiku-4-5", 1],
    ["claude-haiku-4-5-20251001", 1],
  ]);
});

it("counts a session's own total only while its spans and entries report none", async () => {
  const { entries, session, report } = await start();
  await session({ id: "s", model: OPUS, usage: usage(1_000, 100), costUsd: 0.5 });
  expect((await report()).total).toMatchObject({ usages: 1, inputTokens: 1_000, reportedUsd: 0.5 });
  await entries([{ sessionId: "s", usage: usage(10, 1) }]);
  // Its entries report usage, but no cost.
  expect((await report()).total).toMatchObject({ usages: 1, inputTokens: 10, reportedUsd: 0.5 });
  await entries([{ sessionId: "s", usage: usage(20, 1), costUsd: 0.25 }]);
  expect((await report()).total).toMatchObject({ usages: 2, inputTokens: 30, reportedUsd: 0.25 });
  await session({ id: "t", usage: usage(5_000, 1) });
  expect((await report()).total.inputTokens).toBe(5_030);
  await session({ id: "t", spans: [{ id: "1", usage: usage(7, 1) }] });
  expect((await report()).total.inputTokens).toBe(37);
});

it("takes model and branch from the session where an entry names none, whichever comes first", async () => {
  const { entries, session, report } = await start();
  await entries([{ sessionId: "s", usage: usage(1_000_000, 0) }]);
  expect((await report()).groups).toMatchObject([{ key: "", usd: null, unpricedTokens: 1_000_000 }]);
  await session({ id: "s", model: OPUS, branch: "topic" });
  expect((await report()).groups).toMatchObject([{ key: OPUS, usd: 5, unpricedTokens: 0 }]);
  await entries([
    { sessionId: "s", usage: usage(2_000_000, 0) },
    { sessionId: "s", branch: "main", usage: usage(1, 0) },
  ]);
  expect((await report("branch")).groups).toMatchObject([
    { key: "topic", inputTokens: 3_000_000, usd: 15 },
    { key: "main", inputTokens: 1, usd: 0.000005 },
  ]);
  await session({ id: "s", model: "claude-haiku-4-5" });
  expect((await report()).groups).toMatchObject([{ key: "claude-haiku-4-5", inputTokens: 3_000_001 }]);
});

it("never attributes an entry to a session of another device or team", async () => {
  const { t, device, entries, session, report } = await start();
  const [colleague, stranger] = [await t.device(device.team), await t.device()];
  await entries([{ sessionId: "s", usage: usage(10, 0) }]);
  await session({ id: "s", model: OPUS }, "shop", colleague.token);
  await session({ id: "s", model: OPUS, usage: usage(99, 9) }, "shop", stranger.token);
  await entries([{ model: OPUS, usage: usage(10, 0, "m") }], "shop", stranger.token);
  const { groups, total } = await report();
  expect(groups.map(({ key }) => key)).toEqual([""]);
  expect(total).toMatchObject({ inputTokens: 10, usages: 1 });
  await entries([{ model: OPUS, usage: usage(10, 0, "m") }]);
  expect((await report()).total.usages).toBe(2);
});

it("counts the model calls of an agent's trace, not the sum that its own span repeats", async () => {
  const { session, report } = await start();
  const attributes = (operation: string, input: number, cached: number, output: number) => ({
    "gen_ai.operation.name": operation,
    "gen_ai.response.model": "gpt-4.1-2025-04-14",
    "gen_ai.response.id": "one-for-all",
    "gen_ai.usage.input_tokens": input,
    "gen_ai.usage.cache_read.input_tokens": cached,
    "gen_ai.usage.output_tokens": output,
  });
  await session({
    id: "s",
    spans: [
      { id: "agent", attributes: attributes("invoke_agent", 300, 40, 30) },
      { id: "1", parentId: "agent", attributes: attributes("chat", 100, 0, 10) },
      { id: "2", parentId: "agent", attributes: attributes("chat", 200, 40, 20) },
    ],
  });
  expect((await report()).groups).toEqual([
    {
      key: "gpt-4.1-2025-04-14",
      // gpt-4.1: 260 × $2 + 40 × $0.50 + 30 × $8 a million
      usd: 0.00078,
      reportedUsd: null,
      inputTokens: 260,
      outputTokens: 30,
      cacheWriteTokens: 0,
      cacheReadTokens: 40,
      unpricedTokens: 0,
      usages: 2,
    },
  ]);
});

it("groups by everything it is asked for, dearest first, and narrows to a repository and to whole days", async () => {
  const { t, device, entries, report } = await start();
  const other = await t.device(device.team);
  const told = (model: string, input: number, more: object = {}) => ({
    model,
    usage: usage(input, 0),
    sessionId: "s",
    ...more,
  });
  await entries([told(OPUS, 1_000_000), told("claude-haiku-4-5", 2_000_000), told("own-model", 9_000_000)]);
  await entries([told(OPUS, 3_000_000, { branch: "topic", sessionId: "t" })], "till", other.token);
  await entries([
    told(OPUS, 7_000_000, { at: "2026-11-19T23:59:59.999Z" }),
    told(OPUS, 7_000_000, { at: 1_795_305_600 }),
  ]);
  const brief = async (by: Grouping) => (await report(by)).groups.map(({ key, usd }) => [key, usd]);
  expect(await brief("model")).toEqual([
    [OPUS, 20],
    ["claude-haiku-4-5", 2],
    ["own-model", null],
  ]);
  expect(await brief("repo")).toEqual([
    ["till", 15],
    ["shop", 7],
  ]);
  expect(await brief("branch")).toEqual([
    ["topic", 15],
    ["", 7],
  ]);
  expect(await brief("device")).toEqual([
    [other.deviceId, 15],
    [device.deviceId, 7],
  ]);
  expect((await report("session")).groups.map(({ key, deviceId }) => [key, deviceId])).toEqual([
    ["t", other.deviceId],
    ["s", device.deviceId],
  ]);
  expect(await brief("day")).toEqual([["2026-11-20", 22]]);
  expect((await report("model", "till")).total).toMatchObject({ usd: 15, usages: 1 });
  expect((await report()).total).toMatchObject({ usd: 22, unpricedTokens: 9_000_000, usages: 4 });
  expect((await report("repo")).byDayAndModel().map(({ day, model, usd }) => [day, model, usd])).toEqual([
    ["2026-11-20", "claude-haiku-4-5", 2],
    ["2026-11-20", OPUS, 20],
    ["2026-11-20", "own-model", null],
  ]);
});

it("reads usage wherever agents put it in an entry, and nothing from other members", async () => {
  const { entries, report } = await start();
  const sizes = [1, 2, 4, 8, 16];
  const [a, b, c, d, e] = sizes as [number, number, number, number, number];
  await entries([
    { type: "usage", model: OPUS, input_tokens: a, output_tokens: 0 },
    { model: "gemini-2.5-pro", usageMetadata: { promptTokenCount: b } },
    { type: "assistant", sessionId: "s", message: { id: "msg_1", model: OPUS, usage: usage(c, 0) } },
    { type: "assistant", sessionId: "s", message: { id: "msg_1", model: OPUS, usage: usage(c, 0) } },
    { attributes: { "gen_ai.request.model": OPUS, "gen_ai.usage.input_tokens": d } },
    { "gen_ai.request.model": OPUS, "gen_ai.usage.input_tokens": e },
    { attributes: { "gen_ai.operation.name": "invoke_agent", "gen_ai.usage.input_tokens": 1_000 } },
    { text: "usage was fine, costUsd too" },
    { usage: "high", costUsd: "much" },
    { usage: usage(0, 0, "nothing") },
    { usage: { input_tokens: -4, output_tokens: 1e300 }, costUsd: -1 },
  ]);
  expect((await report()).total).toMatchObject({ inputTokens: 31, usages: 5, reportedUsd: null });
});

it("books an entry whose own instant does not exist on the day of its envelope", async () => {
  const { entries, report } = await start();
  await entries([{ at: "2026-02-30T00:00:00Z", model: OPUS, usage: usage(10, 1) }]);
  expect((await report("day")).groups).toMatchObject([{ key: "2026-11-20", inputTokens: 10 }]);
});

it("gives days in their order, whatever they cost", async () => {
  const { t, device, entries } = await start();
  const told = (day: string, input: number) => ({ at: `${day}T10:00:00Z`, model: OPUS, usage: usage(input, 0) });
  await entries([told("2026-11-19", 900), told("2026-11-17", 500), told("2026-11-18", 1)]);
  await catchUpSpend(t.instance.core);
  const period = { from: Date.parse("2026-11-01"), to: Date.parse(AT) };
  const { groups } = spendReport(t.instance.core, device.team.id, { ...period, by: "day" });
  expect(groups.map(({ key }) => key)).toEqual(["2026-11-17", "2026-11-18", "2026-11-19"]);
});

it("adds up reported costs exactly, and invented figures without failing", async () => {
  const { entries, report } = await start();
  await entries(Array.from({ length: 10 }, () => ({ costUsd: 0.1 })));
  expect((await report()).total).toMatchObject({ reportedUsd: 1, usages: 0, usd: null });
  const most = { costUsd: 1_000_000, usage: { input_tokens: 10_000_000_000, output_tokens: 10_000_000_000 } };
  await entries(Array.from({ length: 20 }, () => most));
  expect((await report()).total).toMatchObject({ inputTokens: 200_000_000_000, usages: 20 });
  await entries([{ model: OPUS, usage: usage(5, 0) }]);
  expect((await report()).groups.find(({ key }) => key === OPUS)).toMatchObject({ inputTokens: 5 });
});

it("prices a large request as such requests cost, and each day by the prices of that day", async () => {
  const { entries, report } = await start();
  const told = (model: string, input: number, more: object = {}) => ({ model, usage: usage(input, 0), ...more });
  await entries([told("claude-sonnet-4-5", 200_000), told("claude-sonnet-4-5", 200_001)]);
  // 200,000 × $3 + 200,001 × $6 a million
  expect((await report()).total.usd).toBe(1.800006);
  await entries([told("gpt-5.4", 272_000), told("gpt-5.4", 272_001)]);
  // 272,000 × $2.50 + 272,001 × $5 a million
  expect((await report()).groups[0]).toMatchObject({ key: "gpt-5.4", usd: 2.040005 });
});
