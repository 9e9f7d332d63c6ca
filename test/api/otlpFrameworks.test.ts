import { describe, expect, it } from "vitest";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { parsePolicy, setPolicy } from "../../src/record/policy/policy.ts";
import { startWithDevice, type TestDevice, type TestInstance } from "../support/instance.ts";
import { sessions, spansOf } from "../support/otlp.ts";

/** Spans as frameworks write them beside, or in place of, OpenTelemetry's names: what a lead sees of a run. */

type Sent = Parameters<typeof spansOf>[2];

const [ROOT, CALL, TOOL] = ["1", "2", "3"].map((digit) => digit.repeat(16)) as [string, string, string];
const ERROR = { code: 2, message: "boom" };

const send = (t: TestInstance, device: TestDevice, ...spans: Sent[]) => sendOf("x", t, device, ...spans);

/** The same of an instrumentation scope. */
async function sendOf(scope: string, t: TestInstance, { token }: TestDevice, ...spans: Sent[]) {
  const json = spansOf({ "service.name": "my-agent" }, scope, ...spans);
  expect((await t.post("/v1/traces", { token, json })).status).toBe(200);
}

const steps = (t: TestInstance) =>
  t.rows("SELECT kind, name, parent_id AS below FROM trace_spans ORDER BY external_id").map(Object.values);
const attributesOf = (t: TestInstance, id: string) =>
  JSON.parse(t.rows("SELECT document FROM trace_spans WHERE external_id = ?", id)[0]?.document as string).attributes;

async function spend(t: TestInstance, { token }: TestDevice) {
  await t.instance.settle();
  const { total } = (await t.get("/api/spend", { token })).body;
  return [total.usages, total.inputTokens, total.cacheReadTokens, total.cacheWriteTokens, total.outputTokens];
}

describe("what Langfuse observes", () => {
  const observed = (type: string, values: Sent["values"]) => ({
    "session.id": "lf-1",
    "langfuse.observation.type": type,
    ...Object.fromEntries(Object.entries(values).map(([name, value]) => [`langfuse.observation.${name}`, value])),
  });
  const agent: Sent = {
    id: ROOT,
    name: "agent",
    values: observed("agent", { input: '{"args":["x"]}', output: "sunny" }),
  };
  const call = (usage: object): Sent => ({
    id: CALL,
    parent: ROOT,
    name: "OpenAI-generation",
    values: observed("generation", {
      "model.name": "gpt-5",
      input: JSON.stringify({ tools: [], messages: [{ role: "user", content: "Is it sunny?" }] }),
      output: JSON.stringify({ role: "assistant", content: "It is." }),
      usage_details: JSON.stringify(usage),
    }),
  });
  const tool: Sent = {
    id: TOOL,
    parent: ROOT,
    name: "get_weather",
    values: observed("tool", { input: '{"city":"Paris"}', level: "ERROR", status_message: "no network" }),
  };

  it("is a session with its question, its model, its tools and their failures", async () => {
    const { t, device } = await startWithDevice();
    const usage = { prompt_tokens: 1000, completion_tokens: 50, prompt_tokens_details: { cached_tokens: 800 } };
    await send(t, device, call(usage), tool, agent);
    expect(sessions(t)).toMatchObject([
      { id: "lf-1", title: "Is it sunny?", model: "gpt-5", outcome: "completed", prompts: [{ text: "Is it sunny?" }] },
    ]);
    expect(steps(t)).toEqual([
      ["agent", "agent", null],
      ["llm", "OpenAI-generation", ROOT],
      ["tool", "get_weather", ROOT],
    ]);
    expect(attributesOf(t, TOOL)).toMatchObject({
      "gen_ai.tool.name": "get_weather",
      "gen_ai.tool.call.arguments": '{"city":"Paris"}',
      "error.type": "_OTHER",
      "error.message": "no network",
    });
    expect(await spend(t, device)).toEqual([1, 200, 800, 0, 50]);
  });

  it("takes its prompt from the messages before the tools' definitions, and none from tools' results", async () => {
    const { t, device } = await startWithDevice();
    const definition = { role: "tool", content: { type: "function", function: { name: "get_weather" } } };
    const given = (id: string, ...messages: object[]): Sent => {
      const input = JSON.stringify([...messages, definition, definition]);
      return { id, name: "ChatOpenAI", values: observed("generation", { input, output: "It is." }) };
    };
    const question = { role: "user", content: "Is it sunny?" };
    const answer = { role: "tool", content: "sunny", tool_call_id: "c-1" };
    await send(t, device, given(CALL, question), given(TOOL, question, { role: "assistant", content: "" }, answer));
    expect(sessions(t)).toMatchObject([{ title: "Is it sunny?", prompts: [{ text: "Is it sunny?", id: "1" }] }]);
    expect(sessions(t)[0].prompts).toHaveLength(1);
  });

  it.each([
    [
      "LangChain",
      100,
      { input: 900, output: 42, output_reasoning: 8, input_cache_read: 800, input_cache_creation: 100 },
    ],
    [
      "OpenAI",
      0,
      {
        input: 890,
        output: 42,
        output_reasoning_tokens: 8,
        input_audio_tokens: 10,
        input_cached_tokens: 800,
        total: 1750,
      },
    ],
    ["a program", 100, { input: 900, output: 50, cache_read_input_tokens: 800, cache_creation_input_tokens: 100 }],
  ])("counts each kind once where it is told apart from the input, as beside %s", async (_, written, usage) => {
    const { t, device } = await startWithDevice();
    await send(t, device, call(usage));
    expect(await spend(t, device)).toEqual([1, 900, 800, written, 50]);
  });
});

describe("a call that LiteLLM's proxy reports", () => {
  const usage = (details: string) =>
    `{'completion_tokens': 20, 'prompt_tokens': 3500, 'total_tokens': 3520, 'prompt_tokens_details': ${details}}`;
  const call = (details: string, id = CALL): Sent => ({
    id,
    name: "litellm_request",
    values: {
      "gen_ai.operation.name": "acompletion",
      "gen_ai.response.model": "claude-sonnet-4-5",
      "gen_ai.usage.input_tokens": 3500,
      "gen_ai.usage.output_tokens": 20,
      "gen_ai.usage.total_tokens": 3520,
      "gen_ai.cost.total_cost": 0.003,
      "metadata.usage_object": usage(details),
      "metadata.user_api_key_user_email": "Ada@Example.com",
    },
  });

  it("has what was cached taken out of its input, its cost, and whose key it was made with", async () => {
    const { t, device } = await startWithDevice();
    await send(t, device, call("{'audio_tokens': None, 'cache_write_tokens': 400, 'cached_tokens': 3000}"));
    expect(await spend(t, device)).toEqual([1, 100, 3000, 400, 20]);
    const { body } = await t.get("/api/spend?by=person", { token: device.token });
    expect(body.groups).toMatchObject([{ key: "ada@example.com", reportedUsd: 0.003 }]);
  });

  it("counts by OpenTelemetry's names where LiteLLM's own cannot be read", async () => {
    const { t, device } = await startWithDevice();
    await send(t, device, call("{'cached_tokens': 3000", ROOT), call("<object at 0x7f>", TOOL));
    expect(await spend(t, device)).toEqual([2, 7000, 0, 0, 40]);
  });
});

describe("a call that OpenInference reports in two traces", () => {
  const told = (id: string, trace: string, output: object): Sent => ({
    id,
    trace: trace.repeat(32),
    name: "ChatCompletion",
    values: {
      "openinference.span.kind": "LLM",
      "llm.model_name": "gpt-4o",
      "llm.token_count.prompt": 3101,
      "llm.token_count.completion": 21,
      "llm.token_count.prompt_details.cache_read": 3000,
      "output.value": JSON.stringify(output),
    },
  });
  const byClient = (id: string) => ({ id, choices: [{ message: { content: "It is mild." } }] });
  const byLangChain = (kwargs: object) => ({ generations: [[{ message: { lc: 1, id: ["langchain"], kwargs } }]] });
  const ANSWER = "chatcmpl-74ee41b66769422195ed7f15239f9";

  it("counts once by the answer's id, in whichever language LangChain tells it", async () => {
    const { t, device } = await startWithDevice();
    await send(t, device, told(ROOT, "a", byClient(ANSWER)));
    await send(t, device, told(CALL, "b", byLangChain({ id: "lc_run--1", response_metadata: { id: ANSWER } })));
    await send(t, device, told(TOOL, "c", byLangChain({ id: ANSWER })));
    expect(await spend(t, device)).toEqual([1, 101, 3000, 0, 21]);
  });

  it("counts separately where the output names another answer, or none", async () => {
    const { t, device } = await startWithDevice();
    await send(t, device, told(ROOT, "a", byClient(ANSWER)));
    await send(t, device, told(CALL, "b", byClient(ANSWER.replace("74", "75"))));
    await send(t, device, told(TOOL, "c", byLangChain({ id: "lc_run--1", response_metadata: null })));
    await send(t, device, told("4".repeat(16), "d", [byClient(ANSWER)]));
    expect(await spend(t, device)).toEqual([4, 404, 12_000, 0, 84]);
  });
});

it("counts a call once that an agent's spans and LiteLLM's proxy both report, by its answer's id, and records one that failed in the proxy", async () => {
  const { t, device } = await startWithDevice();
  const ANSWER = "msg_01f9db1f0e69fa4e00a79de1";
  await send(t, device, {
    id: ROOT,
    trace: "b".repeat(32),
    name: "chat claude-sonnet-4-5",
    values: {
      "gen_ai.operation.name": "chat",
      "gen_ai.response.id": ANSWER,
      "gen_ai.usage.input_tokens": 3102,
      "gen_ai.usage.cache_read.input_tokens": 3000,
      "gen_ai.usage.output_tokens": 22,
    },
  });
  await send(
    t,
    device,
    {
      id: CALL,
      name: "litellm_request",
      values: {
        "gen_ai.operation.name": "anthropic_messages",
        "gen_ai.response.id": ANSWER,
        "gen_ai.usage.input_tokens": 3102,
        "gen_ai.usage.output_tokens": 22,
        "metadata.usage_object": `{'prompt_tokens': 3102, 'completion_tokens': 22, 'prompt_tokens_details': {'cached_tokens': 3000}}`,
      },
    },
    {
      id: TOOL,
      name: "litellm_request",
      status: ERROR,
      values: { "gen_ai.operation.name": "acompletion", "error.type": "InternalServerError" },
    },
  );
  expect(await spend(t, device)).toEqual([1, 102, 3000, 0, 22]);
  expect(attributesOf(t, TOOL)).toMatchObject({ "error.type": "InternalServerError", "error.message": "boom" });
});

it("counts by what Anthropic told the AI SDK, whose version 5 reports less, and once where an outer span repeats the last call", async () => {
  const { t, device } = await startWithDevice();
  const told = (input: number, output: number): Sent["values"] => ({
    "ai.model.id": "claude-sonnet-4-5",
    "ai.usage.promptTokens": input,
    "ai.usage.completionTokens": output,
    "ai.response.providerMetadata": JSON.stringify({
      anthropic: {
        usage: {
          input_tokens: input,
          output_tokens: output,
          cache_read_input_tokens: 3000,
          cache_creation_input_tokens: 400,
          cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 300 },
        },
        stopSequence: null,
      },
    }),
  });
  const call = (id: string, input: number, output: number, metadata?: string): Sent => ({
    id,
    parent: ROOT,
    name: "ai.generateText.doGenerate",
    values: {
      ...told(input, output),
      "gen_ai.request.model": "claude-sonnet-4-5",
      "gen_ai.usage.input_tokens": input,
      "gen_ai.usage.output_tokens": output,
      ...(metadata === undefined ? {} : { "ai.response.providerMetadata": metadata }),
    },
  });
  const outer: Sent = { id: ROOT, name: "ai.generateText", values: told(105, 25) };
  await send(t, device, call(CALL, 104, 24), call(TOOL, 105, 25), outer);
  expect(await spend(t, device)).toEqual([2, 209, 6000, 800, 49]);
  expect(
    JSON.parse(t.rows("SELECT document FROM trace_spans WHERE external_id = ?", CALL)[0]?.document as string),
  ).toMatchObject({
    usage: { cache_creation: { ephemeral_1h_input_tokens: 300 } },
  });
  // What another provider says, and JSON that was cut off, leave the figures of OpenTelemetry's names.
  await send(
    t,
    device,
    call("4".repeat(16), 10, 1, '{"openai":{}}'),
    call("5".repeat(16), 20, 2, '{"anthropic":{"usage":{'),
  );
  expect(await spend(t, device)).toEqual([4, 239, 6000, 800, 52]);
});

it("counts the same where only metadata may be kept", async () => {
  const { t, device } = await startWithDevice();
  await setPolicy(t.instance.core, device.team.id, parsePolicy('{"captureMode":"metadata"}'), COMMAND_LINE);
  const call = (id: string, model: string, total: number): Sent => ({
    id,
    name: "chat",
    values: {
      "gen_ai.operation.name": "chat",
      "gen_ai.request.model": model,
      "gen_ai.usage.input_tokens": 1000,
      "gen_ai.usage.output_tokens": 50,
      "gen_ai.usage.cache_read.input_tokens": 800,
      "gen_ai.usage.total_tokens": total,
    },
  });
  await send(t, device, call(CALL, "anthropic.claude-sonnet-4-5", 1850), call(TOOL, "gemini-2.5-pro", 1060));
  expect(await spend(t, device)).toEqual([2, 1200, 1600, 0, 110]);
});

it("reads the cost that instrumentation states for a call, and none where it knows no price", async () => {
  const { t, device } = await startWithDevice();
  const call = (id: string, cost: Sent["values"]): Sent => ({
    id,
    name: "chat gpt-5",
    values: {
      "gen_ai.operation.name": "chat",
      "gen_ai.request.model": "gpt-5",
      "gen_ai.usage.input_tokens": 100,
      "gen_ai.usage.output_tokens": 5,
      ...cost,
    },
  });
  await send(
    t,
    device,
    call(ROOT, { "operation.cost": 0.5 }),
    call(CALL, { "llm.cost.total": 0.25 }),
    call(TOOL, { "gen_ai.usage.cost": 0 }),
  );
  await t.instance.settle();
  const { total } = (await t.get("/api/spend", { token: device.token })).body;
  expect(total).toMatchObject({ usages: 3, reportedUsd: 0.75 });
  expect(t.rows("SELECT document FROM trace_spans WHERE external_id = ?", TOOL)[0]?.document).not.toContain("costUsd");
});

it("shows workflows, agents and tools that Traceloop observes, with what stands below them", async () => {
  const { t, device } = await startWithDevice();
  const of = (kind: string, name: string, more: Sent["values"] = {}): Sent["values"] => ({
    "traceloop.association.properties.session_id": "tl-1",
    "traceloop.span.kind": kind,
    "traceloop.entity.name": name,
    ...more,
  });
  const said = { "traceloop.entity.input": '{"args":["Paris"]}', "traceloop.entity.output": '"sunny"' };
  await send(
    t,
    device,
    { id: TOOL, parent: CALL, name: "get_weather.tool", values: of("tool", "get_weather", said) },
    { id: "4".repeat(16), parent: CALL, name: "step.task", values: of("task", "step") },
    { id: CALL, parent: ROOT, name: "main.agent", values: of("agent", "main") },
    { id: ROOT, name: "flow.workflow", values: of("workflow", "flow") },
  );
  expect(sessions(t)).toMatchObject([{ id: "tl-1" }]);
  expect(steps(t)).toEqual([
    ["agent", "flow.workflow", null],
    ["agent", "main.agent", ROOT],
    ["tool", "get_weather.tool", CALL],
  ]);
  expect(attributesOf(t, TOOL)).toMatchObject({
    "gen_ai.tool.name": "get_weather",
    "gen_ai.tool.call.arguments": '{"args":["Paris"]}',
    "gen_ai.tool.call.result": '"sunny"',
  });
});

it("takes the title and prompts of a Mastra session from the agent's spans, because its calls do not hold them", async () => {
  const { t, device } = await startWithDevice();
  const run = (id: string, trace: string, input: string, parent?: string): Sent => ({
    id,
    trace,
    ...(parent ? { parent } : {}),
    name: "invoke_agent main",
    values: {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.conversation.id": "thread-1",
      "mastra.agent_run.input": input,
    },
  });
  await send(t, device, run(CALL, "b".repeat(32), "Sub-task", ROOT), run(ROOT, "b".repeat(32), "And now?"));
  await send(t, device, run(TOOL, "c".repeat(32), JSON.stringify([{ role: "user", content: "And now?" }])));
  const [{ prompts, title }] = sessions(t);
  expect(prompts.map(({ text }: { text: string }) => text)).toEqual(["And now?", "And now?"]);
  expect(title).toBe("Sub-task");
});

it("does not take what an agent asks another, below a tool, for a prompt of a person", async () => {
  const { t, device } = await startWithDevice();
  const asked = (content: string) => ({
    "openinference.span.kind": "LLM",
    "session.id": "s-1",
    "llm.input_messages.0.message.role": "user",
    "llm.input_messages.0.message.content": content,
  });
  const kind = (name: string) => ({ "openinference.span.kind": name, "session.id": "s-1" });
  await send(
    t,
    device,
    { name: "response", parent: "5".repeat(16), values: asked("Ask about Paris") },
    { id: "5".repeat(16), name: "sub", parent: TOOL, values: kind("AGENT") },
    { id: TOOL, name: "ask_sub", parent: ROOT, values: kind("TOOL") },
    { name: "response", parent: ROOT, values: asked("Is it sunny?") },
    { id: ROOT, name: "main", values: kind("AGENT") },
  );
  expect(sessions(t)).toMatchObject([{ title: "Is it sunny?", prompts: [{ text: "Is it sunny?" }] }]);
});

it("reads OpenInference's messages although the first is left out, as for an agent without instructions", async () => {
  const { t, device } = await startWithDevice();
  const values = {
    "openinference.span.kind": "LLM",
    "llm.input_messages.1.message.role": "user",
    "llm.input_messages.1.message.content": "Is it sunny?",
  };
  await send(t, device, { name: "response", values });
  expect(sessions(t)).toMatchObject([{ title: "Is it sunny?", prompts: [{ text: "Is it sunny?" }] }]);
});

describe("a run that failed", () => {
  const chat = (at: [number, number], more: Partial<Sent> = {}): Sent => ({
    parent: ROOT,
    name: "chat",
    at,
    values: { "gen_ai.operation.name": "chat", "session.id": "s-1" },
    ...more,
  });
  const agent = (at: [number, number], more: Partial<Sent> = {}): Sent => ({
    id: ROOT,
    name: "invoke_agent",
    at,
    values: { "gen_ai.operation.name": "invoke_agent", "session.id": "s-1" },
    ...more,
  });
  const outcome = (t: TestInstance) => t.rows("SELECT outcome FROM trace_sessions").map((row) => row.outcome);
  const failed = { status: ERROR };

  it("is a failed session although earlier calls succeeded, and a completed one once it goes on", async () => {
    const { t, device } = await startWithDevice();
    await send(t, device, chat([0, 100]));
    expect(outcome(t)).toEqual(["completed"]);
    await send(t, device, chat([100, 200], failed), agent([0, 200], failed));
    expect(outcome(t)).toEqual(["failed"]);
    // A call that ended before the failure arrives later.
    await send(t, device, chat([110, 150]));
    expect(outcome(t)).toEqual(["failed"]);
    await send(t, device, agent([300, 400], { id: TOOL, trace: "b".repeat(32) }), chat([310, 390], { parent: TOOL }));
    expect(outcome(t)).toEqual(["completed"]);
  });

  it("is no failed session where an agent went on after a call, a tool or another agent failed", async () => {
    const { t, device } = await startWithDevice();
    const other = agent([50, 200], { id: TOOL, parent: ROOT, ...failed });
    await send(t, device, chat([0, 100]), other);
    await send(t, device, chat([250, 300], failed), agent([0, 300]));
    expect(outcome(t)).toEqual(["completed"]);
  });

  it("is a failed session where it is a single call without an answer", async () => {
    const { t, device } = await startWithDevice();
    await send(t, device, { ...chat([0, 100], failed), parent: undefined } as never);
    expect(outcome(t)).toEqual(["failed"]);
  });
});

describe("what Logfire says of the Agents SDK of OpenAI", () => {
  const SCOPE = "logfire.openai_agents";
  const used = {
    "gen_ai.request.model": "gpt-5",
    "gen_ai.usage.input_tokens": 1_100,
    "gen_ai.usage.output_tokens": 20,
  };
  const asked = { role: "user", content: "Is it sunny?" };
  const called = { role: "assistant", content: null, tool_calls: [{ id: "c-1" }] };

  it("is a session with its question, its answer and its tools, and counts apart what was cached", async () => {
    const { t, device } = await startWithDevice();
    const call = (id: string, input: object[], output: object): Sent => ({
      id,
      name: "Chat completion with {gen_ai.request.model!r}",
      values: {
        ...used,
        input: JSON.stringify(input),
        output: JSON.stringify([output]),
        usage: JSON.stringify({ input_tokens: 1_100, input_tokens_details: { cached_tokens: 1_000 } }),
      },
    });
    await sendOf(
      SCOPE,
      t,
      device,
      call(ROOT, [{ role: "system", content: "Be short" }, asked], called),
      {
        id: TOOL,
        name: "Function: {name}",
        values: { name: "weather", input: '{"city":"Paris"}', output: "sunny", mcp_data: "null" },
      },
      call(CALL, [asked, called, { role: "tool", content: "sunny" }], { role: "assistant", content: "It is." }),
      { name: "Turn {turn}", values: { "gen_ai.system": "openai", usage: '{"input_tokens":2200}' } },
    );
    expect(sessions(t)).toMatchObject([{ title: "Is it sunny?", prompts: [{ text: "Is it sunny?" }] }]);
    expect(steps(t).map(([kind]) => kind)).toEqual(["llm", "llm", "tool"]);
    expect(attributesOf(t, CALL)["gen_ai.output.messages"]).toContain("It is.");
    expect(attributesOf(t, ROOT)["gen_ai.output.messages"]).toBeUndefined();
    expect(attributesOf(t, TOOL)).toMatchObject({ "gen_ai.tool.name": "weather", "gen_ai.tool.call.result": "sunny" });
    expect(await spend(t, device)).toEqual([2, 200, 2_000, 0, 40]);
  });

  it("is told by events where the newer interface was called", async () => {
    const { t, device } = await startWithDevice();
    const events = [
      { "event.name": "gen_ai.system.message", role: "system", content: "Be short" },
      { "event.name": "gen_ai.user.message", ...asked },
      { "event.name": "gen_ai.assistant.message", role: "assistant", content: "It is." },
    ];
    const values = { ...used, "gen_ai.usage.cache_read.input_tokens": 1_000, events: JSON.stringify(events) };
    await sendOf(SCOPE, t, device, { id: CALL, name: "Responses API", values });
    expect(sessions(t)).toMatchObject([{ title: "Is it sunny?", prompts: [{ text: "Is it sunny?" }] }]);
    expect(attributesOf(t, CALL)["gen_ai.output.messages"]).toContain("It is.");
    expect(await spend(t, device)).toEqual([1, 100, 1_000, 0, 20]);
  });

  it("counts only its tokens where the rest is broken", async () => {
    const { t, device } = await startWithDevice();
    const values = { ...used, input: "[{", output: "7", usage: "[]", events: "{}" };
    await sendOf(SCOPE, t, device, { id: CALL, name: "Responses API", values });
    expect(await spend(t, device)).toEqual([1, 1_100, 0, 0, 20]);
  });
});
