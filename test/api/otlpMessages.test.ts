import { describe, expect, it } from "vitest";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { parsePolicy, setPolicy } from "../../src/record/policy/policy.ts";
import { eraseNow } from "../support/erasure.ts";
import { ask, somebody } from "../support/every-page.ts";
import { startWithDevice, type TestDevice, type TestInstance } from "../support/instance.ts";
import { attributes, nanos, protobufOf, sessions, spans, spansOf } from "../support/otlp.ts";

/** What model calls were given and gave back, in whichever way a program tells it: the session's name, what was asked and what was answered. */

type Sent = Parameters<typeof spansOf>[2];
type Values = Sent["values"];

const CALL = "c".repeat(16);
const DETAILS = "gen_ai.client.inference.operation.details";
const text = (role: string, content: string) => ({ role, parts: [{ type: "text", content }] });
const chat = (values: Values, more: Partial<Sent> = {}): Sent => ({
  id: CALL,
  name: "chat gpt-5",
  values: {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "gpt-5",
    "gen_ai.usage.input_tokens": 100,
    ...values,
  },
  ...more,
});

/** Posts a request in either type. */
async function post(t: TestInstance, { token }: TestDevice, signal: "logs" | "traces", json: object, isBinary = false) {
  const { status } = await t.instance.fetch(
    new Request(`http://localhost/v1/${signal}`, {
      method: "POST",
      headers: {
        "content-type": isBinary ? "application/x-protobuf" : "application/json",
        authorization: `Bearer ${token}`,
      },
      body: isBinary ? protobufOf(json) : JSON.stringify(json),
    }),
  );
  expect(status).toBe(200);
}
const send = (t: TestInstance, device: TestDevice, ...spans: Sent[]) =>
  post(t, device, "traces", spansOf({ "service.name": "my-agent" }, "x", ...spans));

/** Log records of the call, each as its event, its attributes and its body. */
const callLogs = (
  records: readonly (readonly [event: string, values: Values, body?: Values[string]])[],
  service = "my-agent",
  spanId = CALL,
) => ({
  resourceLogs: [
    {
      resource: { attributes: attributes({ "service.name": service }) },
      scopeLogs: [
        {
          logRecords: records.map(([event, values, body]) => ({
            timeUnixNano: nanos(400),
            traceId: "a".repeat(32),
            spanId,
            attributes: attributes({ "event.name": event, ...values }),
            ...(body !== undefined && { body: attributes({ body })[0]?.value }),
          })),
        },
      ],
    },
  ],
});

/** The event of the call, as a log record. */
const details = (values: Values, service?: string) =>
  callLogs([[DETAILS, { "gen_ai.usage.input_tokens": 100, ...values }]], service);

async function spend(t: TestInstance, { token }: TestDevice) {
  await t.instance.settle();
  const { body } = await t.get("/api/spend?by=session", { token });
  return [body.total.usages, body.total.inputTokens];
}

const ASKED = text("user", "Mend the login with AKIAIOSFODNN7EXAMPLA");
const ANSWERED = {
  role: "assistant",
  parts: [{ type: "reasoning", content: "Hm" }, ...text("", "It is mended.").parts],
};
const USED = {
  role: "assistant",
  parts: [{ type: "tool_call", id: "t-1", name: "edit", arguments: { path: "a.ts", lines: [1, 2] } }],
};
const CAME_BACK = { role: "tool", parts: [{ type: "tool_call_response", id: "t-1", response: "ok" }] };

describe.each([
  ["lists and maps in JSON", false, (value: object) => value],
  ["lists and maps in Protocol Buffers", true, (value: object) => value],
  ["JSON as text", true, (value: object) => JSON.stringify(value)],
] as const)("messages as %s", (_, isBinary, form) => {
  const json = () => {
    const given = [text("system", "You are an agent"), ASKED];
    const messages = (input: object, output: object) =>
      ({ "gen_ai.input.messages": form(input), "gen_ai.output.messages": form(output) }) as Values;
    return spansOf(
      { "service.name": "my-agent" },
      "x",
      chat(messages(given, [USED])),
      chat(messages([...given, USED, CAME_BACK], [ANSWERED]), { id: "d".repeat(16) }),
      {
        name: "execute_tool edit",
        values: {
          "gen_ai.operation.name": "execute_tool",
          "gen_ai.tool.name": "edit",
          "gen_ai.tool.call.arguments": form({ path: "a.ts", lines: [1, 2] }) as Values[string],
          "gen_ai.tool.call.result": form({ isDone: true }) as Values[string],
        },
      },
    );
  };

  it("say what a session is called, what was asked, what tools did and what was answered", async () => {
    const { t, device } = await startWithDevice();
    await post(t, device, "traces", json(), isBinary);
    await post(t, device, "traces", json(), isBinary);
    const said = expect.stringMatching(/^Mend the login with \S+$/);
    const prompts = [{ at: "2026-11-21T08:00:00.000Z", text: said, id: "1" }];
    expect(sessions(t)).toMatchObject([{ title: said, prompts }]);
    expect(JSON.stringify([sessions(t), spans(t)])).not.toContain("AKIA");
    const [first, second, tool] = spans(t).map((span) => span.attributes);
    expect(JSON.parse(first["gen_ai.output.messages"])).toEqual([USED]);
    expect(JSON.parse(second["gen_ai.output.messages"])).toEqual([ANSWERED]);
    expect(JSON.parse(tool["gen_ai.tool.call.arguments"])).toEqual({ path: "a.ts", lines: [1, 2] });
    expect(JSON.parse(tool["gen_ai.tool.call.result"])).toEqual({ isDone: true });
    const [{ id }] = t.rows("SELECT id FROM trace_sessions") as [{ id: number }];
    const lead = await somebody(t, device.team, "admin");
    const page = (await ask(t, "GET", `/sessions/${id}`, { as: lead })).text;
    expect(page).toMatch(/Mend the login.*It is mended\./s);
    expect(page).not.toContain(">Hm");
  });

  it("leave nothing where only metadata may be kept, and nothing once their session is erased", async () => {
    const { t, core, device } = await startWithDevice();
    await setPolicy(core, device.team.id, parsePolicy('{"captureMode":"metadata"}'), COMMAND_LINE);
    await post(t, device, "traces", json(), isBinary);
    expect(JSON.stringify([sessions(t), spans(t)])).not.toMatch(/login|mended|a\.ts|isDone/);
    expect(sessions(t)[0].prompts).toEqual([{ at: "2026-11-21T08:00:00.000Z", chars: 40, id: "1" }]);
    await setPolicy(core, device.team.id, parsePolicy('{"captureMode":"redacted"}'), COMMAND_LINE);
    await post(t, device, "traces", json(), isBinary);
    expect(JSON.stringify([sessions(t), spans(t)])).toMatch(/login.*mended/s);
    await eraseNow(core, { device: device.deviceId });
    expect([sessions(t), spans(t)]).toEqual([[], []]);
  });
});

describe("the event of a call", () => {
  const messages: Values = { "gen_ai.input.messages": [ASKED], "gen_ai.output.messages": [ANSWERED] };

  /** One session with the call, counted once, and its page with what was asked before what was answered. */
  async function expectConversation(t: TestInstance, device: TestDevice, title = "Mend the login") {
    expect(sessions(t)).toMatchObject([
      {
        id: "a".repeat(32),
        outcome: "completed",
        title: expect.stringContaining(title),
        prompts: [{ text: expect.stringMatching(/^Mend the login with \S+$/) }],
      },
    ]);
    expect(JSON.stringify([sessions(t), spans(t)])).not.toContain("AKIA");
    expect(spans(t)).toMatchObject([{ name: "chat gpt-5", kind: "llm", startedAt: "2026-11-21T08:00:00.000Z" }]);
    expect(spans(t)[0].attributes["gen_ai.output.messages"]).toContain("It is mended.");
    expect(await spend(t, device)).toEqual([1, 100]);
    const lead = await somebody(t, device.team, "admin");
    const [{ id }] = t.rows("SELECT id FROM trace_sessions") as [{ id: number }];
    const { text: page } = await ask(t, "GET", `/sessions/${id}`, { as: lead });
    expect(page.indexOf("It is mended.")).toBeGreaterThan(page.lastIndexOf("Mend the login with"));
  }

  it.each(["logs", "traces"] as const)("belongs to the call that its span reports: %s come first", async (first) => {
    const { t, device } = await startWithDevice();
    const ways = {
      logs: () => post(t, device, "logs", details(messages), true),
      traces: () => send(t, device, chat({})),
    };
    for (const way of first === "logs" ? [ways.logs, ways.traces] : [ways.traces, ways.logs]) await way();
    await expectConversation(t, device);
  });

  it.each(["logs", "traces"] as const)("may come as one record for each message: %s come first", async (first) => {
    const { t, device } = await startWithDevice();
    const log = callLogs([
      ["gen_ai.system.message", {}, { content: "You are an agent" }],
      ["gen_ai.user.message", {}, { content: "Who are you?" }],
      ["gen_ai.assistant.message", {}, { role: "assistant", content: "An agent." }],
      ["gen_ai.assistant.message", {}, { role: "assistant", tool_calls: [{ id: "t-0" }] }],
      ["gen_ai.user.message", {}, { role: "user", content: [{ type: "text", text: ASKED.parts[0]?.content ?? "" }] }],
      [
        "gen_ai.choice",
        {},
        { index: 0, finish_reason: "stop", message: { role: "assistant", content: "It is mended." } },
      ],
    ]);
    const ways = {
      logs: () => post(t, device, "logs", log, first === "logs"),
      traces: () => send(t, device, chat({})),
    };
    for (const way of first === "logs" ? [ways.logs, ways.traces] : [ways.traces, ways.logs]) await way();
    await expectConversation(t, device, "Who are you?");
    expect(JSON.parse(spans(t)[0].attributes["gen_ai.input.messages"])).toMatchObject([
      { role: "user", content: "Who are you?" },
      { role: "assistant", content: "An agent." },
      { role: "user" },
    ]);
  });

  it("belongs to its own call among several in a trace", async () => {
    const { t, device } = await startWithDevice();
    const said = (answer: string, spanId: string) =>
      callLogs([["gen_ai.choice", {}, { message: { content: answer } }]], "my-agent", spanId).resourceLogs;
    await post(t, device, "logs", { resourceLogs: [...said("Read.", CALL), ...said("Mended.", "d".repeat(16))] });
    expect(spans(t).map(({ id, attributes }) => [id, attributes.output])).toEqual([
      [CALL, "Read."],
      ["d".repeat(16), "Mended."],
    ]);
  });

  it("adds nothing where its records have no text, and no text where only metadata may be kept", async () => {
    const { t, device } = await startWithDevice();
    const silent = callLogs([
      ["gen_ai.user.message", {}],
      ["gen_ai.choice", {}, { index: 0, message: { role: "assistant", tool_calls: [{ id: "t-1" }] } }],
    ]);
    await post(t, device, "logs", silent);
    expect(sessions(t)).toEqual([]);
    await setPolicy(t.instance.core, device.team.id, parsePolicy('{"captureMode":"metadata"}'), COMMAND_LINE);
    await post(
      t,
      device,
      "logs",
      callLogs([
        ["gen_ai.user.message", {}, "Mend it"],
        ["gen_ai.choice", {}, { message: { content: "It is mended." } }],
      ]),
    );
    expect(sessions(t)).toMatchObject([{ prompts: [{ chars: 7 }] }]);
    expect(JSON.stringify([sessions(t), spans(t)])).not.toMatch(/Mend it|mended/);
  });

  it("counts once where the call's span and the span that sums it up name a session, and the event none", async () => {
    const { t, device } = await startWithDevice();
    const named: Values = { "session.id": "s-1" };
    const sum: Values = { ...named, "gen_ai.operation.name": "invoke_agent", "gen_ai.usage.input_tokens": 100 };
    await post(t, device, "logs", details(messages));
    await send(t, device, chat(named, { parent: "e".repeat(16) }));
    await send(t, device, { id: "e".repeat(16), name: "invoke_agent", values: sum });
    expect(await spend(t, device)).toEqual([1, 100]);
  });

  it("still shows the answer where the call's span is never exported", async () => {
    const { t, device } = await startWithDevice();
    await post(t, device, "logs", details(messages));
    expect(sessions(t)).toMatchObject([{ outcome: "completed", title: expect.stringContaining("Mend the login") }]);
    const lead = await somebody(t, device.team, "admin");
    const [{ id }] = t.rows("SELECT id FROM trace_sessions") as [{ id: number }];
    const { text: page } = await ask(t, "GET", `/sessions/${id}`, { as: lead });
    expect(page).toContain("It is mended.");
    expect(page).not.toContain("parts");
  });

  it("is no message under the name of a built-in property, such as constructor", async () => {
    const { t, device } = await startWithDevice();
    const names = ["constructor", "toString", "__proto__"];
    await post(t, device, "logs", callLogs(names.map((name) => [name, {}, { content: "Mend it" }])));
    const values: Values = { "langfuse.observation.type": "constructor", "langfuse.observation.output": "Mended." };
    await send(t, device, { name: "x", values });
    expect(sessions(t)).toEqual([]);
    await send(t, device, chat({ ...values, "gen_ai.output.messages": "Done." }));
    expect(spans(t)[0].attributes.output).toBeUndefined();
  });

  it("is read although other members cannot be converted to text", async () => {
    const { t, device } = await startWithDevice();
    const strange = (json: object) =>
      JSON.parse(JSON.stringify(json).replace(/"(?:strange|1\d{18})"/g, '{"toString":null}'));
    const values = { "langfuse.observation.type": "strange" };
    const status = { code: "strange", message: "x" } as never;
    const service = { "service.name": "strange" };
    await post(t, device, "traces", strange(spansOf(service, "x", chat(values, { status }))));
    await post(t, device, "logs", strange(callLogs([[DETAILS, { "gen_ai.output.messages": "strange" }]], "strange")));
    expect(spans(t)[0]).toMatchObject({ id: CALL, name: "chat gpt-5" });
  });

  it("is ignored for Gemini CLI, whose other records report the same", async () => {
    const { t, device } = await startWithDevice();
    await post(t, device, "logs", details({ ...messages, "session.id": "g-1" }, "gemini-cli"));
    expect(sessions(t)).toEqual([]);
  });
});

it("reads what spans say by events, now and before, and what was thrown", async () => {
  const { t, device } = await startWithDevice();
  const json = spansOf(
    {},
    "x",
    chat({}, { events: [{ name: DETAILS, values: { "gen_ai.input.messages": [ASKED] } }] }),
    chat(
      {},
      {
        id: "d".repeat(16),
        trace: "b".repeat(32),
        events: [
          { name: "gen_ai.user.message", values: { content: '[{"text":"Ship it"}]' } },
          { name: "gen_ai.choice", values: { message: "Shipped." } },
        ],
      },
    ),
    {
      name: "execute_tool fetch",
      trace: "b".repeat(32),
      values: { "gen_ai.operation.name": "execute_tool" },
      status: { code: 2, message: "" },
      events: [{ name: "exception", values: { "exception.type": "TimeoutError", "exception.message": "too slow" } }],
    },
    {
      name: "execute_tool fetch",
      trace: "b".repeat(32),
      values: { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.status": "error" },
      events: [{ name: "exception", values: { "exception.type": "TimeoutError" } }],
    },
  );
  await post(t, device, "traces", json, true);
  expect(sessions(t).map(({ title }) => title)).toEqual([expect.stringContaining("Mend the login"), "Ship it"]);
  expect(spans(t).map((span) => [span.attributes["error.type"], span.attributes["error.message"]])).toEqual([
    [undefined, undefined],
    [undefined, undefined],
    ["TimeoutError", "too slow"],
    ["tool_error", undefined],
  ]);
  expect(spans(t)[1].attributes["gen_ai.output.messages"]).toContain("Shipped.");
});

it("reads the messages of OpenInference, and of hundreds in one call", async () => {
  const { t, device } = await startWithDevice();
  const message = (list: string, i: number, role: string, content: string): Values => ({
    [`llm.${list}.${i}.message.role`]: role,
    [`llm.${list}.${i}.message.contents.0.message_content.type`]: "text",
    [`llm.${list}.${i}.message.contents.0.message_content.text`]: content,
  });
  const history = Array.from({ length: 500 }, (_, i) =>
    message("input_messages", i, i % 2 ? "user" : "assistant", `No. ${i}`),
  );
  const values: Values = Object.assign({}, ...history, message("output_messages", 0, "assistant", "Done."), {
    "openinference.span.kind": "LLM",
    "llm.token_count.prompt": 500,
    "output.value": "{}",
  });
  await post(t, device, "traces", spansOf({}, "x", { name: "ChatCompletion", values }), true);
  expect(sessions(t)).toMatchObject([{ title: "No. 1", prompts: [{ text: "No. 499", id: "250" }] }]);
  expect(spans(t)).toMatchObject([{ attributes: { output: "Done." } }]);
  expect(await spend(t, device)).toEqual([1, 500]);
});

it("reads the prompt and the answer of the AI SDK, and the session that a program names", async () => {
  const { t, device } = await startWithDevice();
  const call = (messages: object[], answer: string): Sent => ({
    name: "ai.streamText.doStream",
    values: {
      "ai.telemetry.metadata.sessionId": "chat-7",
      "ai.prompt.messages": JSON.stringify(messages),
      "ai.response.text": answer,
      "ai.usage.inputTokens": 10,
    },
  });
  const asked = { role: "user", content: [{ type: "text", text: "Mend it" }] };
  // opencode asks for a title in a call of its own.
  await send(
    t,
    device,
    call([{ role: "user", content: "Generate a title for this conversation:\n" }, asked], "Mending"),
  );
  await send(t, device, call([asked], "Mended."), call([asked, { role: "tool", content: [] }], "Really."));
  expect(sessions(t)).toMatchObject([{ id: "chat-7", title: "Mend it", prompts: [{ text: "Mend it" }] }]);
  expect(spans(t).map(({ attributes: { output } }) => output)).toEqual(["Mending", "Mended.", "Really."]);
});

it("reads what was asked of opencode without the quotation marks that it puts around it, and those of others as they are", async () => {
  const { t, token } = await startWithDevice();
  const quoted = '"Say \\"done\\" at the end"';
  for (const name of ["opencode", "other"]) {
    const values = {
      "session.id": name,
      "ai.prompt.messages": JSON.stringify([{ role: "user", content: [{ type: "text", text: quoted }] }]),
      "ai.usage.inputTokens": 10,
    };
    const json = spansOf({ "service.name": name }, "ai", { name: "ai.streamText.doStream", values });
    expect((await t.post("/v1/traces", { token, json })).status).toBe(200);
  }
  const asked = 'Say "done" at the end';
  expect(sessions(t)).toMatchObject([
    { id: "opencode", title: asked, prompts: [{ text: asked }] },
    { id: "other", title: quoted, prompts: [{ text: quoted }] },
  ]);
});

it("shows an answer once, after its prompt, that both a call and the agent above it report", async () => {
  const { t, device } = await startWithDevice();
  const messages: Values = { "gen_ai.input.messages": [ASKED], "gen_ai.output.messages": [ANSWERED] };
  const agent: Values = { ...messages, "gen_ai.operation.name": "invoke_agent", "gen_ai.usage.input_tokens": 100 };
  await send(t, device, chat(messages, { parent: "e".repeat(16) }), {
    id: "e".repeat(16),
    name: "invoke_agent",
    values: agent,
  });
  const lead = await somebody(t, device.team, "admin");
  const [{ id }] = t.rows("SELECT id FROM trace_sessions") as [{ id: number }];
  const { text: page } = await ask(t, "GET", `/sessions/${id}`, { as: lead });
  expect(page.split("It is mended.")).toHaveLength(2);
});

it("reads LangSmith's spans, which tell apart what was cached, and messages as LangChain writes them", async () => {
  const { t, device } = await startWithDevice();
  const made = (type: string, content: string) => ({ lc: 1, type: "constructor", kwargs: { type, content } });
  const details = { input_token_details: { cache_read: 800, cache_creation: 50 } };
  await send(t, device, {
    name: "ChatOpenAI",
    values: {
      "langsmith.span.kind": "llm",
      "langsmith.metadata.thread_id": "th-1",
      "langsmith.metadata.usage_metadata": JSON.stringify({ input_tokens: 1_000, output_tokens: 50, ...details }),
      "gen_ai.operation.name": "chat",
      "gen_ai.usage.input_tokens": 1_000,
      "gen_ai.usage.output_tokens": 50,
      "gen_ai.prompt": JSON.stringify({ messages: [[made("system", "Be short"), made("human", "Mend it")]] }),
      "gen_ai.completion": JSON.stringify({ generations: [[{ text: "Mended.", message: made("ai", "Mended.") }]] }),
    },
  });
  expect(sessions(t)).toMatchObject([{ id: "th-1", title: "Mend it", prompts: [{ text: "Mend it" }] }]);
  expect(spans(t)[0].attributes.output).toBe("Mended.");
  await t.instance.settle();
  const { body } = await t.get("/api/spend", { token: device.token });
  expect(body.total).toMatchObject({ inputTokens: 150, cacheReadTokens: 800, cacheWriteTokens: 50, outputTokens: 50 });
});

it("shows a prompt once that is tried again, and the same words twice that were said twice", async () => {
  const { t, device } = await startWithDevice();
  const [asked, answered] = [text("user", "Go on"), text("assistant", "Done.")];
  const call = (id: string, ...messages: object[]) =>
    chat({ "gen_ai.input.messages": JSON.stringify(messages), "gen_ai.conversation.id": "c-1" }, { id: id.repeat(16) });
  await send(t, device, call("1", asked), call("2", asked));
  await send(t, device, call("3", asked));
  await send(t, device, call("4", asked, answered, asked));
  expect(sessions(t)[0].prompts.map(({ text: said, id }: Record<string, unknown>) => [said, id])).toEqual([
    ["Go on", "1"],
    ["Go on", "2"],
  ]);
});

it("leaves the time out that Copilot CLI puts before what a person says", async () => {
  const { t, device } = await startWithDevice();
  const asked = text("user", "<current_datetime>2026-11-27T04:36:19.859+00:00</current_datetime>\n\nShip it");
  await send(t, device, chat({ "gen_ai.input.messages": JSON.stringify([asked]) }));
  expect(sessions(t)).toMatchObject([{ title: "Ship it", prompts: [{ text: "Ship it" }] }]);
});

it("does not show bytes, text to be embedded, or the creation of an agent as something said or done", async () => {
  const { t, device } = await startWithDevice();
  const blob = { type: "blob", modality: "image", content: "iVBORw0KGgo=" };
  const embedded: Values = {
    "gen_ai.operation.name": "embeddings",
    "gen_ai.input.messages": [text("user", "a chunk")],
  };
  await send(t, device, chat(embedded), {
    name: "create_agent",
    trace: "b".repeat(32),
    values: { "gen_ai.operation.name": "create_agent" },
  });
  await send(
    t,
    device,
    chat({ "gen_ai.input.messages": [{ role: "user", parts: [blob, { type: "text", content: "See?" }] }] }),
  );
  expect(sessions(t)).toMatchObject([{ title: "See?", prompts: [{ text: "See?" }] }]);
});

it("keeps the beginning of long messages readable, and passes over what nests too deep or is broken", async () => {
  const { t, device } = await startWithDevice();
  const long = "word ".repeat(10_000);
  let deep: Values[string] = "bottom";
  for (let i = 0; i < 200; i++) deep = [deep];
  const output = [text("assistant", long), text("assistant", "never kept")];
  const json = spansOf(
    {},
    "x",
    chat({ "gen_ai.output.messages": output, "gen_ai.input.messages": deep }),
    chat({ "gen_ai.output.messages": JSON.stringify(output) }, { id: "d".repeat(16) }),
  );
  await post(t, device, "traces", json, true);
  const [kept, cut] = spans(t).map((span) => span.attributes["gen_ai.output.messages"]);
  expect(JSON.parse(kept)).toEqual([
    text("assistant", expect.stringMatching(/^(?:word )+\S*\n\[cut: \d+ of 50000 characters\]$/)),
  ]);
  expect(cut).toMatch(/^word .*\[cut: 16384 of \d+ characters\]$/s);
  const bytes = protobufOf(
    spansOf({}, "x", chat({ "gen_ai.output.messages": ["brokenbroken"] }, { id: "e".repeat(16) })),
  );
  bytes[bytes.indexOf("brokenbroken") - 1] = 0x7f;
  const { status } = await t.instance.fetch(
    new Request("http://localhost/v1/traces", {
      method: "POST",
      headers: { "content-type": "application/x-protobuf", authorization: `Bearer ${device.token}` },
      body: bytes,
    }),
  );
  expect(status).toBe(200);
  expect(spans(t).at(-1).attributes["gen_ai.output.messages"]).toBe("[]");
});
