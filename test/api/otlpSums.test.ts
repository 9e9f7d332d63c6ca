import { describe, expect, it } from "vitest";
import { startWithDevice, type TestDevice, type TestInstance } from "../support/instance.ts";
import { spansOf } from "../support/otlp.ts";

/** An agent's span repeats what the calls below it used: that counts once, in whatever order the spans come. */

type Sent = Parameters<typeof spansOf>[2];

const TRACE = "a".repeat(32);
const [AGENT, STEP] = ["f".repeat(16), "e".repeat(16)];
const NAMED = { "gen_ai.conversation.id": "c-1" };

const used = (input: number, output: number) => ({
  "gen_ai.usage.input_tokens": input,
  "gen_ai.usage.output_tokens": output,
});

const call = (number: number, parent: string, more: Sent["values"] = {}): Sent => ({
  id: String(number).padStart(16, "0"),
  parent,
  name: "chat gpt-5",
  values: { "gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-5", ...used(100 + number, number), ...more },
});

/** The agent's span, with the sum of the first two calls. */
const agent: Sent = {
  id: AGENT,
  name: "invoke_agent",
  values: { "gen_ai.operation.name": "invoke_agent", ...NAMED, ...used(203, 3) },
};

async function send(t: TestInstance, { token }: TestDevice, ...spans: Sent[]) {
  const json = spansOf({ "service.name": "my-agent" }, "my", ...spans);
  expect((await t.post("/v1/traces", { token, json })).status).toBe(200);
}

/** Spend by session: number of calls, input and output tokens. */
async function spend(t: TestInstance, { token }: TestDevice) {
  await t.instance.settle();
  const { body } = await t.get("/api/spend?by=session", { token });
  type Group = { key: string; usages: number; inputTokens: number; outputTokens: number };
  return Object.fromEntries(
    body.groups.map(({ key, usages, inputTokens, outputTokens }: Group) => [key, [usages, inputTokens, outputTokens]]),
  );
}

it("counts once where unrecorded spans stand between an agent and its calls", async () => {
  const { t, device } = await startWithDevice();
  const inner = { id: STEP, parent: "d".repeat(16), name: "step", values: {} };
  const outer = { id: "d".repeat(16), parent: AGENT, name: "graph", values: {} };
  await send(t, device, call(1, STEP), call(2, STEP), inner, outer, agent);
  expect(await spend(t, device)).toEqual({ "c-1": [2, 203, 3] });
  expect(t.rows("SELECT parent_id FROM trace_spans ORDER BY external_id").map((row) => row.parent_id)).toEqual([
    AGENT,
    AGENT,
    null,
  ]);
});

it("counts an agent whose calls are not exported, below a workflow that another program called", async () => {
  const { t, device } = await startWithDevice();
  const workflow = { "gen_ai.operation.name": "invoke_workflow", ...NAMED };
  await send(
    t,
    device,
    { id: STEP, parent: "d".repeat(16), name: "invoke_workflow", values: workflow },
    { ...agent, parent: STEP },
  );
  expect(await spend(t, device)).toEqual({ "c-1": [1, 203, 3] });
});

it("leaves a span below what it names where nothing above it is known, and where spans name each other", async () => {
  const { t, device } = await startWithDevice();
  const [one, other] = ["1".repeat(16), "2".repeat(16)];
  await send(
    t,
    device,
    call(1, STEP),
    { id: one, parent: other, name: "a", values: {} },
    { id: other, parent: one, name: "b", values: {} },
    { id: "9".repeat(16), name: "execute_tool", values: { "gen_ai.operation.name": "execute_tool" } },
    call(2, one),
  );
  expect(t.rows("SELECT parent_id FROM trace_spans ORDER BY external_id").map((row) => row.parent_id)).toEqual([
    STEP,
    one,
    null,
  ]);
});

it("counts once where the sum comes later than its calls, and only the sum names the session", async () => {
  const { t, device } = await startWithDevice();
  await send(t, device, call(1, AGENT));
  await send(t, device, call(2, AGENT));
  await send(t, device, agent);
  expect(await spend(t, device)).toEqual({ [TRACE]: [2, 203, 3] });
  // The same trace id from another device is a trace of its own.
  const other = await t.device();
  await send(t, other, agent);
  expect(await spend(t, other)).toMatchObject({ "c-1": [1, 203, 3] });
});

it("keeps later spans without a session's name in the trace that began without one", async () => {
  const { t, device } = await startWithDevice();
  const tool = { parent: AGENT, name: "execute_tool", values: { "gen_ai.operation.name": "execute_tool" } };
  await send(t, device, call(1, STEP));
  // Large enough for a thread, where only the call that comes with the sum is known to stand below it.
  const long = "x".repeat(20_000);
  await send(t, device, tool, call(2, AGENT, { "gen_ai.output.messages": long }), agent);
  expect(await spend(t, device)).toEqual({ [TRACE]: [2, 203, 3] });
  expect(t.rows("SELECT external_id FROM trace_sessions")).toEqual([{ external_id: TRACE }]);
});

it("uses the session's name from a call, and the sum's own only where no call without a name came before", async () => {
  const { t, device } = await startWithDevice();
  const tool = { parent: AGENT, name: "execute_tool", values: { "gen_ai.operation.name": "execute_tool" } };
  await send(t, device, tool);
  await send(t, device, call(1, AGENT, NAMED));
  await send(t, device, call(2, AGENT, NAMED));
  await send(t, device, agent);
  expect(await spend(t, device)).toEqual({ "c-1": [2, 203, 3] });
});

it("asks of many traces in one request", async () => {
  const { t, device } = await startWithDevice();
  const traces = Array.from({ length: 1_200 }, (_, i) => i.toString(16).padStart(32, "b"));
  await send(t, device, ...traces.map((trace, i) => ({ ...call(i + 1, AGENT), trace })));
  await send(t, device, ...traces.map((trace) => ({ ...agent, trace })));
  await t.instance.settle();
  const { body } = await t.get("/api/spend?by=model", { token: device.token });
  expect(body.total.usages).toBe(1_200);
  expect(t.rows("SELECT count(*) AS n FROM trace_sessions WHERE external_id = 'c-1'")).toEqual([{ n: 0 }]);
});

it("keeps a turn of Copilot Chat in one session, whose every request is a conversation of its own", async () => {
  const { t, device } = await startWithDevice();
  const chat = { "copilot_chat.chat_session_id": "chat-1" };
  const turn = { ...agent, values: { ...agent.values, ...chat, "gen_ai.conversation.id": "chat-1" } };
  const request = { ...chat, "gen_ai.conversation.id": "request-1" };
  const title = { "copilot_chat.parent_chat_session_id": "chat-1", "gen_ai.conversation.id": "request-2" };
  const aside = { ...call(3, "", title), trace: "b".repeat(32) };
  await send(t, device, aside, call(1, AGENT, request), call(2, AGENT, request), turn);
  expect(await spend(t, device)).toEqual({ "chat-1": [3, 306, 6] });
});

it.each([
  ["later than these", 0],
  ["before these", 1],
])("counts once where what stands between an agent and its calls comes %s", async (_order, first) => {
  const { t, device } = await startWithDevice();
  const requests = [
    [call(1, STEP, NAMED)],
    [{ id: STEP, parent: AGENT, name: "execute_event_loop_cycle", values: {} }, agent],
  ];
  for (const spans of [requests[first], requests[1 - first], requests[0]]) await send(t, device, ...(spans ?? []));
  // The agent's sum includes one more call, which may be lost: the sum counts until that call comes.
  expect(await spend(t, device)).toEqual({ "c-1": [2, 304, 4] });
  await send(t, device, call(2, STEP, NAMED));
  expect(await spend(t, device)).toEqual({ "c-1": [2, 203, 3] });
});

it("counts once where calls name the session, and their sum comes later and names none", async () => {
  const { t, device } = await startWithDevice();
  const { "gen_ai.conversation.id": _, ...nameless } = agent.values;
  // Large enough for threads, both.
  const long = { "gen_ai.output.messages": "x".repeat(20_000) };
  await send(t, device, call(1, AGENT, { ...NAMED, ...long }));
  await send(t, device, call(2, AGENT, NAMED));
  const tool = { parent: AGENT, name: "execute_tool", values: { "gen_ai.operation.name": "execute_tool" } };
  await send(t, device, tool, { ...agent, values: { ...nameless, ...long } });
  await send(t, device, { ...agent, values: nameless });
  expect(await spend(t, device)).toEqual({ "c-1": [2, 203, 3] });
  expect(t.rows("SELECT external_id FROM trace_sessions")).toEqual([{ external_id: "c-1" }]);
  // A new trace of the same machine, and the same trace id from another device, do not belong to it.
  await send(t, device, { ...agent, trace: "b".repeat(32), values: nameless });
  const other = await t.device();
  await send(t, other, { ...agent, values: nameless });
  expect(await spend(t, device)).toMatchObject({ "c-1": [2, 203, 3], ["b".repeat(32)]: [1, 203, 3] });
  expect(await spend(t, other)).toEqual({ [TRACE]: [1, 203, 3] });
});

it("counts once where calls that name no session come after a sum that does, as when their request was refused at first", async () => {
  const { t, device } = await startWithDevice();
  await send(t, device, agent);
  await send(t, device, call(1, AGENT));
  await send(t, device, call(2, AGENT), { ...call(3, ""), trace: "b".repeat(32) });
  expect(await spend(t, device)).toEqual({ "c-1": [2, 203, 3], ["b".repeat(32)]: [1, 103, 3] });
});

it("uses the session's name from a span that is not recorded itself, sent in a request of its own", async () => {
  const { t, device } = await startWithDevice();
  await send(t, device, { id: AGENT, name: "POST /chat", values: NAMED });
  await send(t, device, call(1, AGENT));
  expect(await spend(t, device)).toEqual({ "c-1": [1, 101, 1] });
});

it("counts once where a sum that names no session comes before calls that do, as when their request was refused at first", async () => {
  const { t, device } = await startWithDevice();
  const { "gen_ai.conversation.id": _, ...nameless } = agent.values;
  await send(t, device, { ...agent, values: nameless });
  await send(t, device, call(1, AGENT, NAMED), call(2, AGENT, NAMED));
  // Other calls of the conversation do not belong to that trace.
  await send(t, device, { ...call(3, AGENT, NAMED), trace: "b".repeat(32) });
  expect(await spend(t, device)).toEqual({ [TRACE]: [2, 203, 3], "c-1": [1, 103, 3] });
});

/** By OpenInference's names. */
const inference = (kind: string, input: number, output: number): Sent["values"] => ({
  "openinference.span.kind": kind,
  "llm.token_count.prompt": input,
  "llm.token_count.completion": output,
});

it("takes for a sum what OpenInference calls a chain or an agent, whenever it comes", async () => {
  const { t, device } = await startWithDevice();
  const crew = {
    id: "c".repeat(16),
    name: "Crew.kickoff",
    values: { ...inference("CHAIN", 203, 3), "session.id": "s-1" },
  };
  const worker = { id: AGENT, parent: crew.id, name: "Agent", values: { "openinference.span.kind": "AGENT" } };
  const model = (number: number): Sent => ({
    ...call(number, AGENT),
    values: { ...inference("LLM", 100 + number, number), "llm.model_name": "gpt-5" },
  });
  await send(t, device, model(1), model(2));
  await send(t, device, worker, crew);
  expect(await spend(t, device)).toEqual({ [TRACE]: [2, 203, 3] });
  expect(t.rows("SELECT kind, name FROM trace_spans WHERE kind <> 'llm' ORDER BY external_id")).toEqual([
    { kind: "agent", name: "Crew.kickoff" },
    { kind: "agent", name: "Agent" },
  ]);
  // A span without tokens is not recorded.
  await send(t, device, { name: "RunnableSequence", values: { "openinference.span.kind": "CHAIN" } });
  expect(t.count("trace_spans")).toBe(4);
});

describe("a call that a client's library and its instrumentation both report", () => {
  const answered = { "gen_ai.response.id": "msg_1" };
  const told = (number: number, at: Sent["at"], more: Partial<Sent> = {}): Sent => ({
    ...call(7, AGENT, answered),
    id: String(number).repeat(16),
    ...(at ? { at } : {}),
    ...more,
  });
  const standing = (t: TestInstance) =>
    t
      .rows("SELECT external_id, parent_id, started_at % 100000 AS began FROM trace_spans ORDER BY id")
      .map(Object.values);

  it.each([
    ["beside it", AGENT],
    ["below it", "2".repeat(16)],
    ["below a step of it", STEP],
  ])("counts once, and stands once, where the one is %s", async (_, parent) => {
    const { t, device } = await startWithDevice();
    const step = { id: STEP, parent: "2".repeat(16), name: "POST", values: {} };
    const tool = {
      id: "3".repeat(16),
      parent: "2".repeat(16),
      name: "execute_tool",
      values: { "gen_ai.operation.name": "execute_tool" },
    };
    await send(t, device, told(1, [10, 400], { parent }), step, told(2, [5, 410]), tool);
    expect(await spend(t, device)).toEqual({ [TRACE]: [1, 107, 7] });
    expect(standing(t)).toEqual([
      ["1".repeat(16), AGENT, 5],
      ["3".repeat(16), "1".repeat(16), 0],
    ]);
  });

  it("counts each call where they follow each other, or used different tokens", async () => {
    const { t, device } = await startWithDevice();
    const other = { values: { ...call(8, AGENT).values, ...answered } };
    await send(t, device, told(1, [0, 100]), told(2, [101, 200]), told(3, [150, 180], other));
    expect(await spend(t, device)).toEqual({ [TRACE]: [3, 322, 22] });
  });

  /** As Anthropic gives them to one answer alone. */
  const unique = { "gen_ai.response.id": "msg_01XFDUDYJgAACzvnptvVoYEL" };
  const streamed = { ...call(7, AGENT).values, ...used(107, 8) };

  it("counts once where they come in two requests, end at different times, and one counts a token more", async () => {
    const { t, device } = await startWithDevice();
    const inner = told(3, [20, 300], { parent: "2".repeat(16), values: inference("LLM", 107, 8) });
    await send(t, device, inner, told(1, [10, 400], { values: { ...call(7, AGENT).values, ...unique } }));
    await send(t, device, told(2, [5, 500], { values: { ...streamed, ...unique } }));
    await send(t, device, { ...agent, values: { ...agent.values, ...used(107, 8), ...unique } });
    expect(await spend(t, device)).toEqual({ [TRACE]: [1, 107, 8] });
  });

  it("counts once where each is a trace of its own, as without anything around them", async () => {
    const { t, device } = await startWithDevice();
    const alone = (number: number, trace: string, id: Sent["values"]): Sent => ({
      id: String(number).repeat(16),
      trace,
      name: "chat",
      values: { ...streamed, ...id },
    });
    await send(t, device, alone(1, "b".repeat(32), unique));
    await send(t, device, alone(2, "c".repeat(32), unique));
    expect(Object.values(await spend(t, device))).toEqual([[1, 107, 8]]);
    // Others, as Ollama, give one of a thousand.
    await send(t, device, alone(3, "d".repeat(32), { "gen_ai.response.id": "chatcmpl-17" }));
    await send(t, device, alone(4, "e".repeat(32), { "gen_ai.response.id": "chatcmpl-17" }));
    expect(Object.values(await spend(t, device))).toHaveLength(3);
  });

  it("counts once where a span without the answer's id encloses those that have it", async () => {
    const { t, device } = await startWithDevice();
    const around = { ...told(3, [0, 500]), values: inference("LLM", 107, 7) };
    const within = (number: number, values: Sent["values"]) =>
      told(number, [number, 400], { parent: around.id as string, values: { ...values, ...unique } });
    await send(t, device, within(1, streamed));
    await send(t, device, within(2, call(7, AGENT).values));
    await send(t, device, around);
    expect(await spend(t, device)).toEqual({ [TRACE]: [1, 107, 8] });
  });
});
