import { describe, expect, it } from "vitest";
import { type Call, callsOnce, countCalls, tokensOfCalls } from "../../../src/formats/calls.ts";
import { readAttributes, readAttributeUsage, readUsage } from "../../../src/formats/usage.ts";
import { finish } from "../../../src/kit/slices.ts";
import { processorMs } from "../../support/time.ts";

const counts = { input: null, output: null, cacheWrite: null, cacheWrite1h: null, cacheRead: null };

describe("usage is read as written by", () => {
  it.each([
    [
      "Anthropic, whose input leaves out what was cached",
      {
        id: "msg_1",
        input_tokens: 3,
        output_tokens: 9,
        cache_creation_input_tokens: 19_233,
        cache_read_input_tokens: 24_983,
        cache_creation: { ephemeral_5m_input_tokens: 233, ephemeral_1h_input_tokens: 19_000 },
      },
      {
        id: "msg_1",
        input: 3,
        output: 9,
        cacheWrite: 233,
        cacheWrite1h: 19_000,
        cacheRead: 24_983,
        context: 44_219,
      },
    ],
    [
      "Anthropic without the parts of what was written",
      { input_tokens: 3, output_tokens: 9, cache_creation_input_tokens: 50, cache_read_input_tokens: 0 },
      { input: 3, output: 9, cacheWrite: 50, cacheRead: 0, context: 53 },
    ],
    [
      "OpenAI Responses, whose input includes what was cached",
      {
        input_tokens: 100,
        input_tokens_details: { cached_tokens: 60 },
        output_tokens: 20,
        output_tokens_details: { reasoning_tokens: 12 },
        total_tokens: 120,
      },
      { input: 40, output: 20, cacheRead: 60, context: 100 },
    ],
    [
      "OpenAI Chat Completions",
      { prompt_tokens: 100, completion_tokens: 20, prompt_tokens_details: { cached_tokens: 64 } },
      { input: 36, output: 20, cacheRead: 64, context: 100 },
    ],
    [
      "gateways that repeat Anthropic's counts in OpenAI's form",
      { prompt_tokens: 100, completion_tokens: 20, cache_read_input_tokens: 60, cache_creation_input_tokens: 30 },
      { input: 10, output: 20, cacheRead: 60, cacheWrite: 30, context: 100 },
    ],
    [
      "Codex",
      { input_tokens: 24_098, cached_input_tokens: 2_432, output_tokens: 389, reasoning_output_tokens: 266 },
      { input: 21_666, output: 389, cacheRead: 2_432, context: 24_098 },
    ],
    [
      "Codex where it tells what was written to a cache",
      { input_tokens: 3_312, cached_input_tokens: 3_010, cache_write_input_tokens: 201, output_tokens: 42 },
      { input: 101, output: 42, cacheWrite: 201, cacheRead: 3_010, context: 3_312 },
    ],
    [
      "Gemini, which counts thoughts beside its answer and tools beside the prompt",
      {
        promptTokenCount: 1_000,
        cachedContentTokenCount: 400,
        candidatesTokenCount: 50,
        thoughtsTokenCount: 75,
        toolUsePromptTokenCount: 10,
      },
      { input: 610, output: 125, cacheRead: 400, context: 1_010 },
    ],
    [
      "Gemini's command line",
      { input: 12_059, output: 17, cached: 59, thoughts: 75, tool: 7, total: 12_158 },
      { input: 12_007, output: 92, cacheRead: 59, context: 12_066 },
    ],
    [
      "Copilot",
      { inputTokens: 12_845, outputTokens: 461, cacheReadTokens: 45, cacheWriteTokens: 0, reasoningTokens: 350 },
      { input: 12_800, output: 461, cacheRead: 45, cacheWrite: 0, context: 12_845 },
    ],
    [
      "Vercel's AI SDK",
      { inputTokens: 100, outputTokens: 20, totalTokens: 120, reasoningTokens: 4, cachedInputTokens: 90 },
      { input: 10, output: 20, cacheRead: 90, context: 100 },
    ],
    [
      "Vercel's AI SDK for a provider that counts the cache apart",
      { inputTokens: 3, outputTokens: 20, cachedInputTokens: 24_983 },
      { input: 3, output: 20, cacheRead: 24_983, context: 24_986 },
    ],
    [
      "Vercel's AI SDK with details",
      { inputTokens: 100, outputTokens: 20, inputTokenDetails: { cacheReadTokens: 50, cacheWriteTokens: 30 } },
      { input: 20, output: 20, cacheRead: 50, cacheWrite: 30, context: 100 },
    ],
    [
      "Bedrock's Converse",
      { inputTokens: 5, outputTokens: 20, cacheReadInputTokens: 100, cacheWriteInputTokens: 7 },
      { input: 5, output: 20, cacheRead: 100, cacheWrite: 7, context: 112 },
    ],
  ])("%s", (_, sent, read) => {
    expect(readUsage(sent)).toEqual({ id: null, requestId: null, ...counts, ...read });
  });

  it("nobody: wrong types, fractions, negative and impossible numbers, and no tokens at all", () => {
    for (const sent of [
      null,
      7,
      "12",
      [],
      {},
      { input_tokens: "12" },
      { input_tokens: -1 },
      { input_tokens: 1.5 },
      { input_tokens: 2 ** 53 },
      { total_tokens: 5 },
    ])
      expect(readUsage(sent), JSON.stringify(sent)).toBeNull();
    expect(readUsage({ input_tokens: "12", output_tokens: 3 })).toMatchObject({ input: null, output: 3 });
  });
});

it("reads OpenTelemetry's attributes, whose input includes the cache, in both spellings and both layouts", () => {
  const read = { id: null, requestId: null, ...counts, input: 14_598, output: 655, cacheRead: 2_816, context: 17_414 };
  const attributes = {
    "gen_ai.usage.input_tokens": 17_414,
    "gen_ai.usage.output_tokens": 655,
    "gen_ai.usage.cache_read.input_tokens": 2_816,
    "gen_ai.response.id": "told by several calls",
  };
  expect(readAttributeUsage(attributes)).toEqual(read);
  const listed = [
    { key: "gen_ai.usage.input_tokens", value: { intValue: "17414" } },
    { key: "gen_ai.usage.output_tokens", value: { intValue: 655 } },
    { key: "gen_ai.usage.cache_read_input_tokens", value: { intValue: "2816" } },
  ];
  expect(readAttributeUsage(readAttributes(listed))).toEqual(read);
  expect(readAttributeUsage({ "gen_ai.usage.prompt_tokens": 4, "gen_ai.usage.completion_tokens": 1 })).toMatchObject({
    input: 4,
    output: 1,
  });
  expect(readAttributeUsage({ "gen_ai.request.model": "m" })).toBeNull();
});

it("takes cached tokens out of an input only if the total includes them, unlike Amazon Bedrock's", () => {
  const apart = {
    "gen_ai.usage.input_tokens": 1000,
    "gen_ai.usage.output_tokens": 50,
    "gen_ai.usage.cache_read_input_tokens": 800,
    "gen_ai.usage.cache_write_input_tokens": 100,
  };
  const told = (total: number) => readAttributeUsage({ ...apart, "gen_ai.usage.total_tokens": total });
  expect(told(1950)).toMatchObject({ input: 1000, context: 1900 });
  expect(told(1050)).toMatchObject({ input: 100, context: 1000 });
});

it("counts as thinking what Gemini's total has beyond input and output, and for no other model", () => {
  const read = (model: string, total: number) =>
    readAttributeUsage({
      "gen_ai.response.model": model,
      "gen_ai.usage.input_tokens": 3101,
      "gen_ai.usage.cache_read.input_tokens": 3000,
      "gen_ai.usage.output_tokens": 21,
      "gen_ai.usage.total_tokens": total,
    });
  expect(read("gemini-2.5-pro", 3131)).toMatchObject({ input: 101, cacheRead: 3000, output: 30, context: 3101 });
  expect(read("gemini-2.5-pro", 3122)).toMatchObject({ input: 101, output: 21 });
  expect(read("gemini-2.5-pro", 5)).toMatchObject({ input: 101, output: 21 });
  expect(read("gpt-5", 3131)).toMatchObject({ input: 101, output: 21 });
});

it.each([
  ["Codex", "cache_read.input_tokens", "cache_write.input_tokens"],
  ["the conventions as released", "cache_read.input_tokens", "cache_creation.input_tokens"],
  ["the names of before", "cache_read_input_tokens", "cache_creation_input_tokens"],
  ["Strands", "cache_read_input_tokens", "cache_write_input_tokens"],
  ["those who leave out the input", "cache_read_tokens", "cache_write_tokens"],
])("reads cache writes as %s reports them", (_, read, written) => {
  const attributes = {
    "gen_ai.usage.input_tokens": 1_000,
    "gen_ai.usage.output_tokens": 5,
    [`gen_ai.usage.${read}`]: 700,
    [`gen_ai.usage.${written}`]: 200,
  };
  expect(readAttributeUsage(attributes)).toEqual({
    ...{ id: null, requestId: null, ...counts, output: 5, context: 1_000 },
    ...{ input: 100, cacheRead: 700, cacheWrite: 200 },
  });
});

const span = (externalId: string, parentId: string | null, usage: object | null, more: Partial<Call> = {}): Call => ({
  externalId,
  parentId,
  name: null,
  kind: null,
  operation: null,
  usage: usage && readUsage(usage),
  ...more,
});
const some = { input_tokens: 10, output_tokens: 1 };
const idsOf = (spans: Call[]) => finish(countCalls(spans)).map(({ externalId }) => externalId);

describe("of spans below each other", () => {
  it("an agent's usage gives way to the model calls that it sums up, also behind tools", () => {
    const agent = { operation: "invoke_agent" };
    expect(idsOf([span("a", null, some, agent), span("b", "a", some), span("c", "a", some)])).toEqual(["b", "c"]);
    expect(
      idsOf([span("a", null, some, agent), span("t", "a", null, { operation: "execute_tool" }), span("b", "t", some)]),
    ).toEqual(["b"]);
    expect(idsOf([span("a", null, some, agent), span("b", "a", null)])).toEqual(["a"]);
  });

  it("a call's usage stays beside what one of its tools started, also under LiteLLM's names", () => {
    const tool = span("t", "a", null, { operation: "execute_tool" });
    for (const operation of ["chat", "acompletion", "anthropic_messages", "aresponses"])
      expect(idsOf([span("a", null, some, { operation }), tool, span("b", "t", some)])).toEqual(["a", "b"]);
    expect(idsOf([span("a", null, some, { operation: "step" }), tool, span("b", "t", some)])).toEqual(["b"]);
  });

  it("an agent's usage gives way to calls below unknown spans, if these began in its time and it sums them up", () => {
    const at = (startedAt: number, endedAt: number) => ({ startedAt, endedAt });
    const agent = (from: number, to: number, input_tokens = 20, output_tokens = 2) =>
      span("a", "x", { input_tokens, output_tokens }, { operation: "invoke_agent", ...at(from, to) });
    const strays = [span("b", "y", some, at(10, 12)), span("c", "z", some, at(15, 20))];
    expect(idsOf([agent(10, 15), ...strays])).toEqual(["b", "c"]);
    expect(idsOf([...strays, agent(0, 99, 19)])).toEqual(["b", "c"]);
    // A single call does not show whether its input includes cached tokens.
    expect(idsOf([...strays, agent(0, 99, 40)])).toEqual(["b", "c"]);
    // The agent's sum is more than they used, or one of them is of another time.
    expect(idsOf([agent(10, 15, 41), ...strays])).toEqual(["a", "b", "c"]);
    expect(idsOf([agent(10, 15, 20, 3), ...strays])).toEqual(["a", "b", "c"]);
    expect(idsOf([agent(11, 15), ...strays])).toEqual(["a", "b", "c"]);
    expect(idsOf([agent(10, 14), ...strays])).toEqual(["a", "b", "c"]);
    // One of them has no parent. Another agent's sum is no call.
    expect(idsOf([agent(10, 15), span("b", null, some, at(10, 12)), strays[1] as Call])).toEqual(["a", "b", "c"]);
    expect(idsOf([agent(10, 15), { ...agent(10, 15), externalId: "d" }])).toEqual(["a", "d"]);
    // The calls have no times.
    expect(idsOf([agent(10, 15), span("b", "y", some), span("c", "y", some)])).toEqual(["a", "b", "c"]);
    expect(idsOf([{ ...agent(10, 15), endedAt: null }, ...strays])).toEqual(["a", "b", "c"]);
  });

  it("an agent's usage does not give way to itself, to spans beside it, or to calls that another agent sums up", () => {
    const at = (startedAt: number, endedAt: number) => ({ startedAt, endedAt });
    const agent = (id: string, parent: string | null, from: number, to: number) =>
      span(id, parent, some, { operation: "invoke_agent", ...at(from, to) });
    // The agent's caller begins with it, and has a parent elsewhere.
    const caller = span("top", "elsewhere", null, { operation: "invoke_workflow", ...at(10, 20) });
    expect(idsOf([caller, agent("a", "top", 10, 20)])).toEqual(["a"]);
    expect(idsOf([caller, agent("a", "top", 10, 20), agent("b", "top", 10, 20)])).toEqual(["a", "b"]);
    // Nor do two callers give way to one another.
    const other = { ...caller, externalId: "other", parentId: "somewhere" };
    expect(idsOf([caller, agent("a", "top", 10, 20), other, agent("b", "other", 10, 20)])).toEqual(["a", "b"]);
    // A span with the same parent is not called by the agent.
    expect(idsOf([agent("a", "x", 10, 20), span("b", "x", some, at(12, 13))])).toEqual(["a", "b"]);
    expect(idsOf([agent("a", "x", 10, 20), agent("c", "x", 10, 20), span("b", "c", some, at(12, 13))])).toEqual([
      "a",
      "b",
    ]);
    // Only one of several agents side by side reports its calls. They are counted once.
    const stray = (id: string, from: number) => span(id, "y", some, at(from, from + 1));
    for (const parent of ["x", null]) {
      const two = [agent("a", parent, 10, 20), agent("b", parent, 11, 21)];
      expect(idsOf([...two, stray("c", 12)])).toEqual(["b", "c"]);
      expect(idsOf([...two, stray("c", 12), stray("d", 13)])).toEqual(["c", "d"]);
    }
    expect(idsOf([agent("a", "x", 10, 20), agent("b", "x", 21, 30), stray("c", 12), stray("d", 21)])).toEqual([
      "c",
      "d",
    ]);
    // An agent within an agent, without known spans between them, sums up the same calls.
    expect(idsOf([agent("a", null, 10, 20), agent("b", "x", 11, 19), stray("c", 12)])).toEqual(["c"]);
  });

  it("agents' sums are compared in slices when each misses a parent of its own", () => {
    const ids = Array.from({ length: 2_000 }, (_, i) => i);
    const timed = { startedAt: 1, endedAt: 2 };
    const agents = ids.map((i) => span(`a${i}`, `x${i}`, some, { operation: "invoke_agent", ...timed }));
    const strays = ids.map((i) => span(`b${i}`, `y${i}`, some, timed));
    const slicesOf = (spans: readonly Call[]) => [...countCalls(spans)].length;
    expect(slicesOf([...agents, ...strays]) - slicesOf([...strays, ...strays])).toBeGreaterThan(1_000);
    expect(idsOf([...agents, ...strays])).toEqual(ids.map((i) => `b${i}`));
  });

  it("a wrapper of a call gives way to it, through any number of spans without usage", () => {
    expect(idsOf([span("a", null, some), span("b", "a", null), span("c", "b", some)])).toEqual(["c"]);
  });

  const of = (input_tokens: number, output_tokens: number, more: object = {}) => ({
    input_tokens,
    output_tokens,
    ...more,
  });

  it("a span that is not called an agent keeps its usage unless all kinds of usage below add up to it", () => {
    const below = [
      span("b", "a", of(10, 1)),
      span("c", "a", of(20, 2, { input_tokens_details: { cached_tokens: 5 } })),
    ];
    expect(idsOf([span("a", null, of(30, 3)), ...below])).toEqual(["b", "c"]);
    expect(idsOf([span("a", null, of(30, 4)), ...below])).toEqual(["a", "b", "c"]);
    expect(idsOf([span("a", null, of(30, 3)), span("b", "a", of(10, 1))])).toEqual(["a", "b"]);
    const chat = { operation: "chat" };
    expect(idsOf([span("a", null, of(30, 3), chat), span("b", "a", of(10, 1), chat)])).toEqual(["a", "b"]);
    expect(idsOf([span("a", null, of(10, 1), chat), span("b", "a", of(10, 1), chat)])).toEqual(["b"]);
    // When several spans report one message, the largest report counts.
    const told = [span("b", "a", of(10, 1, { id: "m" })), span("c", "a", of(10, 2, { id: "m" }))];
    expect(idsOf([span("a", null, of(10, 2)), ...told])).toEqual(["b", "c"]);
  });

  it("a wrapper of an agent gives way to an equal sum, and an agent to any", () => {
    const inner = [
      span("agent", "a", of(30, 3), { kind: "AGENT" }),
      span("b", "agent", of(10, 1)),
      span("c", "agent", of(20, 2)),
    ];
    expect(idsOf([span("a", null, of(30, 3)), ...inner])).toEqual(["b", "c"]);
    expect(idsOf([span("a", null, of(99, 9), { kind: "workflow" }), ...inner])).toEqual(["b", "c"]);
    const outer = { name: "ai.generateText", kind: "generation" };
    expect(idsOf([span("a", null, of(14, 43), outer), span("b", "a", of(62, 85))])).toEqual(["b"]);
  });

  it("a call counts beside the work of an agent that one of its tools started", () => {
    const spans = [
      span("call", null, some, { operation: "chat" }),
      span("tool", "call", null, { kind: "tool" }),
      span("sub", "tool", some, { operation: "invoke_agent" }),
      span("inner", "sub", some, { operation: "chat" }),
    ];
    expect(idsOf(spans)).toEqual(["call", "inner"]);
  });

  it("usage with the provider's id always counts", () => {
    expect(idsOf([span("a", null, { id: "m", ...some }), span("b", "a", some)])).toEqual(["a", "b"]);
  });

  it("circles and long chains come to an end", async () => {
    expect(idsOf([span("a", "b", some), span("b", "a", null)])).toEqual(["a"]);
    const taken = (length: number) => {
      const chain = Array.from({ length }, (_, i) => span(String(i), i === 0 ? null : String(i - 1), some));
      return processorMs(() => expect(idsOf(chain)).toEqual([String(length - 1)]));
    };
    const ofShort = await taken(2_000);
    expect(await taken(20_000)).toBeLessThan(40 * ofShort);
  });
});

it("counts each message once, by the record with the largest output", () => {
  const spans = [
    span("1", null, { id: "m", input_tokens: 10, output_tokens: 5 }),
    span("2", null, { id: "m", input_tokens: 10, output_tokens: 9 }),
    span("3", null, { id: "m", input_tokens: 10, output_tokens: 7 }),
    span("4", null, { input_tokens: 1, output_tokens: 1 }),
    span("5", null, { input_tokens: 1, output_tokens: 1 }),
    span("6", null, null),
  ];
  expect(tokensOfCalls(finish(callsOnce(spans)))).toEqual({
    input: 12,
    output: 11,
    cacheWrite: null,
    cacheRead: null,
  });
});
