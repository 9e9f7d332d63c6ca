import { expect, it } from "vitest";
import { asObject, parseJson } from "../../src/formats/values.ts";
import { catchUpSpend, type SpendGroup, spendReport } from "../../src/insight/spend/spend.ts";
import { startInstance, startWithDevice, type TestDevice, type TestInstance } from "../support/instance.ts";
import { sessionOf, sumUsage, telemetryOf } from "./convert.ts";
import { describeReal, listData, type RealTranscript, readData, transcripts } from "./data.ts";
import { readLangfuse, readOtlp, type TraceSession } from "./traces.ts";

interface Gold {
  readonly file: string;
  readonly first_line: number;
  readonly expected: Tokens;
  readonly per_model: Readonly<Record<string, Tokens>>;
}
interface Tokens {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
}

/** Each session whose tokens two independent counts agree on, cut to the records that were counted. */
function golden(): { gold: Gold; real: RealTranscript }[] {
  const { sessions } = asObject(parseJson(readData("transcripts/usage-gold.json"))) as { sessions: Gold[] };
  const all = new Map(transcripts().map((one) => [`transcripts/${one.name}.jsonl`, one]));
  return sessions.map((gold) => {
    const real = all.get(gold.file) as RealTranscript;
    const steps = real.transcript.steps.slice(gold.first_line);
    return { gold, real: { ...real, transcript: { ...real.transcript, steps } } };
  });
}

let seq = 0;
async function sendEntries(t: TestInstance, device: TestDevice, repoKey: string, entries: readonly object[]) {
  for (let at = 0; at < entries.length; at += 40) {
    const json = { repoKey, entries: entries.slice(at, at + 40).map((entry) => ({ ...entry, seq: ++seq })) };
    const answer = await t.post("/api/telemetry/ingest", { token: device.token, json });
    expect(answer.status, answer.text).toBe(200);
  }
}
async function sendSession(t: TestInstance, device: TestDevice, repoKey: string, session: object) {
  const answer = await t.post("/api/agent-traces/ingest", {
    token: device.token,
    json: { repoKey, sessions: [session] },
  });
  expect(answer.status, answer.text).toBe(200);
}

type Way = (t: TestInstance, device: TestDevice, real: RealTranscript) => Promise<void>;
const asTelemetry: Way = (t, device, { repoKey, transcript, facts }) =>
  sendEntries(t, device, repoKey, telemetryOf(transcript, facts));
const asSpans: Way = (t, device, { repoKey, transcript, facts }) =>
  sendSession(t, device, repoKey, sessionOf(transcript, facts));
const asRecords: Way = (t, device, { repoKey, transcript }) =>
  sendEntries(
    t,
    device,
    repoKey,
    transcript.steps
      .map(({ record, at }) => ({ payload: parseJson(record) as object, ...(at ? { clientTimestamp: at } : {}) }))
      .filter(({ payload }) => JSON.stringify(payload).length < 60_000),
  );

async function report(t: TestInstance, device: TestDevice, by: "model" | "session" = "model") {
  await catchUpSpend(t.instance.core);
  return spendReport(t.instance.core, device.team.id, { from: 0, to: Date.UTC(2030, 0), by });
}

const tokensOf = (one: Omit<SpendGroup, "key">): Tokens => ({
  input_tokens: one.inputTokens,
  output_tokens: one.outputTokens,
  cache_creation_input_tokens: one.cacheWriteTokens,
  cache_read_input_tokens: one.cacheReadTokens,
});
const isUsed = (tokens: Tokens) => Object.values(tokens).some((count) => count > 0);

describeReal("what real sessions used", () => {
  it.each<[string, readonly Way[]]>([
    ["telemetry", [asTelemetry]],
    ["spans", [asSpans]],
    ["telemetry, then spans", [asTelemetry, asSpans]],
    ["spans, then telemetry, then spans again", [asSpans, asTelemetry, asSpans]],
    ["an agent's own records", [asRecords]],
    ["all of them", [asRecords, asSpans, asTelemetry]],
  ])("is what two independent counts say, by kind and model, told as %s", async (_, ways) => {
    const t = await startInstance();
    for (const { gold, real } of golden()) {
      // A team of its own for each.
      const device = await t.device();
      for (const way of ways) await way(t, device, real);
      const { total, groups } = await report(t, device);
      expect(tokensOf(total), gold.file).toEqual(gold.expected);
      const models = Object.entries(gold.per_model).filter(([, tokens]) => isUsed(tokens));
      expect(Object.fromEntries(groups.map((group) => [group.key, tokensOf(group)])), gold.file).toEqual(
        Object.fromEntries(models),
      );
    }
  });

  it("is what all transcripts of all agents add up to, each session for itself, told twice over", async () => {
    const { t, device } = await startWithDevice();
    const expected = new Map<string, Tokens>();
    // The fixtures are made up: some share their messages.
    for (const real of transcripts().filter(({ name }) => !name.startsWith("fixtures/"))) {
      await asTelemetry(t, device, real);
      await asSpans(t, device, real);
      const sum = sumUsage(real.transcript.steps);
      if (sum && isUsed(sum)) expected.set(real.transcript.sessionId, sum);
    }
    const { groups } = await report(t, device, "session");
    expect(new Map(groups.map((group) => [group.key, tokensOf(group)]))).toEqual(expected);
  });

  it("costs what can be worked out by hand, to the last digit", async () => {
    const { real } = golden().find(({ gold }) => gold.file.includes("00ef13bd")) as { real: RealTranscript };
    const { t, device } = await startWithDevice();
    await asRecords(t, device, real);
    // claude-opus-4-6, dollars a million tokens: input 5, output 25, cache write for an hour 10, cache read 0.50.
    //        34 × $5    =      170 millionths of a dollar
    //       266 × $25   =    6,650
    //    34,523 × $10   =  345,230   (the records say that all of it was written for an hour)
    // 1,203,203 × $0.50 =  601,601.5
    //                      953,651.5
    expect((await report(t, device)).total).toMatchObject({ usd: 0.953_651_5, unpricedTokens: 0, usages: 24 });
  });
});

describeReal("what traces of observability tools used", () => {
  async function modelsOf(sessions: readonly TraceSession[]) {
    const { t, device } = await startWithDevice();
    for (const session of sessions) await sendSession(t, device, "demo", session);
    return models(t, device);
  }

  async function models(t: TestInstance, device: TestDevice) {
    const { groups } = await report(t, device);
    return Object.fromEntries(
      groups.map(({ key, inputTokens, cacheReadTokens, outputTokens }) => [
        key,
        [inputTokens, cacheReadTokens, outputTokens],
      ]),
    );
  }

  const copilotChat = () => readData("otel/copilot-chat-otel/traces.otlp.json");
  const ofCopilotChat = {
    "gpt-4o-mini-2024-07-18": [270 + 253 + 253 + 272, 0, 9 + 74 + 73 + 9],
    // An agent's span repeats both calls: 35,515 of which 20,736 cached, and 729.
    "gpt-4.1-2025-04-14": [17_414 - 2_816 + 18_101 - 17_920, 2_816 + 17_920, 655 + 74],
    "gpt-4o-2024-11-20": [16_953 - 2_432 + 17_123 - 17_024, 2_432 + 17_024, 136 + 41],
    "instant-apply-qwen3-4b-no-think": [1_032 - 271, 271, 625],
  };

  it("is the sum of model calls alone, what was cached taken out of the input", async () => {
    expect(await modelsOf(readOtlp(copilotChat()))).toEqual(ofCopilotChat);
  });

  it("is the same where they are exported, all at once or one by one as they end", async () => {
    type Scope = { readonly spans: readonly { readonly endTimeUnixNano: string }[] };
    type Request = { readonly resourceSpans: readonly { readonly scopeSpans: readonly Scope[] }[] };
    const whole = JSON.parse(copilotChat()) as Request;
    const spans = whole.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
    const single = spans
      .sort((a, b) => Number(BigInt(a.endTimeUnixNano) - BigInt(b.endTimeUnixNano)))
      .map((span) => ({ resourceSpans: [{ scopeSpans: [{ scope: { name: "copilot-chat" }, spans: [span] }] }] }));
    for (const requests of [[whole], single]) {
      const { t, device } = await startWithDevice();
      for (const json of requests) expect((await t.post("/v1/traces", { token: device.token, json })).body).toEqual({});
      expect(await models(t, device)).toEqual(ofCopilotChat);
    }
  });

  it("is the sum of model calls in the traces of other frameworks", async () => {
    const expected: Record<string, Record<string, number[]>> = {
      "claude-agent": { "claude-sonnet-4-5-20250929": [5 + 5 + 5 + 19, 0, 94 + 56 + 53 + 29] },
      "google-adk": { "gemini-2.0-flash": [39 + 28, 0, 6 + 3] },
      "microsoft-agent": { "gpt-5-mini-2025-08-07": [77 + 216, 0, 86 + 20] },
      "openai-agents": { "gpt-4.1-2025-04-14": [85 + 55, 0, 29 + 15] },
      "pydantic-ai-2025": { "gpt-4o": [31, 0, 96] },
      "pydantic-ai-tools": { "gpt-4o-mini-2024-07-18": [417 + 131 + 502 + 265, 0, 53 + 69 + 14 + 73] },
      "vercel-aisdk": { "gpt-5": [62, 0, 85] },
    };
    const files = listData("otel/langfuse-framework-traces");
    expect(files.length).toBe(Object.keys(expected).length);
    for (const [name, models] of Object.entries(expected)) {
      const file = files.find((path) => path.includes(name)) as string;
      expect(await modelsOf([readLangfuse(readData(file)).session]), name).toEqual(models);
    }
  });
});
