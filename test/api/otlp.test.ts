import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { DAY_MS, MINUTE_MS } from "../../src/kit/clock.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { received } from "../../src/record/otlp/receive.ts";
import { forgetJob } from "../../src/record/otlp/seen.ts";
import { parsePolicy, setPolicy } from "../../src/record/policy/policy.ts";
import { verifyLedger } from "../../src/share/maintenance/maintenance.ts";
import { apiToken } from "../support/api.ts";
import { eraseNow } from "../support/erasure.ts";
import {
  startInstance,
  startWithDevice,
  startWithTeam,
  type TestDevice,
  type TestInstance,
} from "../support/instance.ts";
import { firstSchemaDirectory } from "../support/older.ts";
import {
  attributes,
  type ClaudeRecord,
  claudeCall,
  claudeLogs,
  eventLogs,
  nanos,
  protobufOf,
  sessions,
  spans,
  spansOf,
  wireFields,
} from "../support/otlp.ts";

/** The spend of one call, the same in every spelling. */
const ONE_CALL = { usages: 1, inputTokens: 101, outputTokens: 42, cacheReadTokens: 3010, cacheWriteTokens: 201 };

const PROTOBUF = { "content-type": "application/x-protobuf" };

const entries = (t: TestInstance) =>
  t
    .rows("SELECT seq, payload FROM telemetry_entries ORDER BY seq")
    .map(({ seq, payload }) => ({ seq, ...JSON.parse(payload) }));

async function spend(t: TestInstance, { token }: TestDevice, by = "session") {
  await t.instance.settle();
  const { body } = await t.get(`/api/spend?by=${by}`, { token });
  const { usages, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reportedUsd } = body.total;
  return { usages, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reportedUsd, groups: body.groups };
}

/** A Status as its bytes say it. */
function statusOf(bytes: Buffer) {
  const [code, message] = wireFields(bytes);
  return { code: Number(code?.value), message: message?.bytes.toString() };
}

async function binary(t: TestInstance, path: string, token: string, body: Uint8Array<ArrayBuffer>, headers = {}) {
  const response = await t.instance.fetch(
    new Request(`http://localhost${path}`, {
      method: "POST",
      headers: { ...PROTOBUF, authorization: `Bearer ${token}`, ...headers },
      body,
    }),
  );
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
}

describe("otlpLogs", () => {
  it("makes a session with prompt, calls, tool and commit from what Claude Code reports, and counts its spend", async () => {
    const { t, device } = await startWithDevice();
    const answer = await t.post("/v1/logs", {
      token: device.token,
      json: claudeLogs(
        [
          "user_prompt",
          { prompt: "Fix the login", prompt_length: "13", "prompt.id": "p-1", "user.email": "ada@example.com" },
        ],
        claudeCall("req_1"),
        ["assistant_response", { request_id: "req_1", response: "Done." }],
        [
          "tool_result",
          {
            tool_name: "Bash",
            tool_use_id: "toolu_1",
            success: "true",
            duration_ms: "20",
            tool_input: '{"command":"git commit -qm Fix"}',
            tool_parameters: '{"git_commit_id":"80281eb75be77fc3cf9ef8a3c250f98444c42f16"}',
            "vcs.ref.head.type": "branch",
            "vcs.ref.head.name": "main",
          },
          900,
        ],
        [
          "tool_result",
          {
            ...{ tool_name: "Bash", tool_use_id: "toolu_2", tool_parameters: '{"git_commit_id":"was there already"}' },
            ...{ "vcs.ref.head.type": "tag", "vcs.ref.head.name": "v1" },
          },
          900,
        ],
        ["plugin_loaded", { "plugin.name": "x" }],
      ),
    });
    expect([answer.status, answer.body]).toEqual([200, {}]);
    expect(entries(t)).toEqual([
      { seq: 1, type: "prompt", id: "p-1", text: "Fix the login", sessionId: "s-1", agent: "claude-code" },
      expect.objectContaining({ seq: 2, type: "usage", sessionId: "s-1", model: "claude-opus-4-6", costUsd: 0.0125 }),
      {
        seq: 3,
        type: "commit",
        sha: "80281eb75be77fc3cf9ef8a3c250f98444c42f16",
        sessionId: "s-1",
        agent: "claude-code",
        branch: "main",
      },
    ]);
    expect(sessions(t)).toEqual([
      {
        id: "s-1",
        agent: "claude-code",
        agentVersion: "2.1.330",
        model: "claude-opus-4-6",
        branch: "main",
        userEmail: "ada@example.com",
        startedAt: "2026-11-21T07:59:59.970Z",
        endedAt: "2026-11-21T08:00:00.900Z",
        outcome: "committed",
        prompts: [{ at: "2026-11-21T08:00:00.000Z", text: "Fix the login" }],
        commits: [{ sha: "80281eb75be77fc3cf9ef8a3c250f98444c42f16", at: "2026-11-21T08:00:00.900Z" }],
      },
    ]);
    expect(spans(t)).toMatchObject([
      { id: "req_1", kind: "llm", usage: { input_tokens: 100 }, attributes: { output: "Done." } },
      {
        id: "toolu_1",
        kind: "tool",
        startedAt: "2026-11-21T08:00:00.880Z",
        attributes: { "gen_ai.tool.name": "Bash" },
      },
      { id: "toolu_2" },
    ]);
    expect(await spend(t, device)).toMatchObject({
      usages: 1,
      inputTokens: 100,
      outputTokens: 40,
      cacheReadTokens: 3000,
      cacheWriteTokens: 200,
      reportedUsd: 0.0125,
      groups: [{ key: "s-1", usages: 1 }],
    });
  });

  it("stores a request once however often it comes, and continues the stream without a gap", async () => {
    const { t, device } = await startWithDevice();
    const first = { token: device.token, json: claudeLogs(claudeCall("req_1"), claudeCall("req_2")) };
    await t.post("/v1/logs", first);
    const deliveries = t.count("deliveries");
    t.clock.advance(MINUTE_MS);
    expect((await t.post("/v1/logs", first)).status).toBe(200);
    expect((await t.post("/otlp/v1/logs", first)).status).toBe(200);
    expect(t.count("deliveries")).toBe(deliveries);
    await t.post("/v1/logs", {
      token: device.token,
      json: claudeLogs(claudeCall("req_1"), claudeCall("req_2"), claudeCall("req_3")),
    });
    expect(entries(t).map(({ seq, usage }) => [seq, usage.requestId])).toEqual([
      [1, "req_1"],
      [2, "req_2"],
      [3, "req_3"],
    ]);
    expect(t.rows("SELECT repo_key, max_seq, entry_count, conflict_count FROM telemetry_streams")).toEqual([
      { repo_key: "(otlp)", max_seq: 3, entry_count: 3, conflict_count: 0 },
    ]);
    expect(t.count("telemetry_gaps")).toBe(0);
    expect((await spend(t, device)).usages).toBe(3);
  });

  it("recognises a repeated request for a week, and then forgets it", async () => {
    const { t, token } = await startWithDevice();
    await t.post("/v1/logs", { token, json: claudeLogs(claudeCall("req_1")) });
    t.clock.advance(7 * DAY_MS - 1);
    await forgetJob.run(t.instance.core);
    expect(t.count("otlp_seen")).toBe(1);
    t.clock.advance(2);
    await forgetJob.run(t.instance.core);
    expect(t.count("otlp_seen")).toBe(0);
  });

  it("keeps the devices' own streams apart, and the same words of two devices", async () => {
    const { t, team } = await startWithTeam();
    const [one, other] = [await t.device(team), await t.device(team)];
    await t.post("/api/telemetry/ingest", { token: one.token, json: { entries: [{ seq: 1, payload: { n: 1 } }] } });
    for (const { token } of [one, other]) await t.post("/v1/logs", { token, json: claudeLogs(claudeCall("req_1")) });
    const sent = await t.post("/api/telemetry/ingest", {
      token: one.token,
      json: { entries: [{ seq: 2, payload: { n: 2 } }] },
    });
    expect(sent.body).toMatchObject({ accepted: 1, maxSeq: 2, flagged: null });
    expect(t.rows("SELECT repo_key, max_seq FROM telemetry_streams ORDER BY id")).toEqual([
      { repo_key: "", max_seq: 2 },
      { repo_key: "(otlp)", max_seq: 1 },
      { repo_key: "(otlp)", max_seq: 1 },
    ]);
  });

  it("counts a call once that the capture client reports as well, whichever comes first", async () => {
    const { t, device } = await startWithDevice();
    const { token } = device;
    const captured = (message: string, request: string) => ({
      type: "usage",
      sessionId: "s-1",
      model: "claude-opus-4-6",
      usage: {
        id: message,
        requestId: request,
        input_tokens: 100,
        output_tokens: 40,
        cache_read_input_tokens: 3000,
        cache_creation_input_tokens: 200,
      },
    });
    await t.post("/v1/logs", { token, json: claudeLogs(claudeCall("req_1")) });
    const json = {
      repoKey: "acme/shop",
      entries: [captured("msg_1", "req_1"), captured("msg_2", "req_2")].map((payload, i) => ({ seq: i + 1, payload })),
    };
    await t.post("/api/telemetry/ingest", { token, json });
    await t.post("/v1/logs", { token, json: claudeLogs(claudeCall("req_1"), claudeCall("req_2")) });
    expect(await spend(t, device)).toMatchObject({
      usages: 2,
      inputTokens: 200,
      outputTokens: 80,
      cacheReadTokens: 6000,
    });
    expect((await spend(t, device, "repo")).groups.map(({ key }: { key: string }) => key)).toEqual(["acme/shop"]);
    // Known by its request, it stands although the client tells of the session.
    await t.post("/v1/logs", { token, json: claudeLogs(claudeCall("req_3")) });
    expect(await spend(t, device)).toMatchObject({ usages: 3, inputTokens: 300 });
  });

  const codexCall = (session: string, input: number) =>
    eventLogs(
      { "service.name": "codex_exec" },
      {
        "event.name": "codex.sse_event",
        "event.timestamp": `2026-11-21T08:00:00.${input}Z`,
        "conversation.id": session,
        model: "gpt-5.1-codex",
        "event.kind": "response.completed",
        input_token_count: String(input),
        output_token_count: "42",
      },
    );
  const exported = async (t: TestInstance, token: string, session: string, input: number) => {
    await t.post("/v1/logs", { token, json: codexCall(session, input) });
    const about = { "conversation.id": session, "gen_ai.usage.input_tokens": input, "gen_ai.usage.output_tokens": 42 };
    const span = { name: "handle_responses", trace: "b".repeat(32), values: about };
    await t.post("/v1/traces", { token, json: spansOf({ "service.name": "codex_exec" }, "codex_exec", span) });
  };
  const captured = async (t: TestInstance, token: string, session: string, input: number) => {
    const model = "gpt-5.1-codex";
    const usage = { input_tokens: input, output_tokens: 42 };
    const payload = { type: "usage", sessionId: session, agent: "codex", model, usage };
    await t.post("/api/telemetry/ingest", {
      token,
      json: { repoKey: "acme/shop", entries: [{ seq: input, payload }] },
    });
    const spans = [{ id: `call-${input}`, kind: "llm", usage, attributes: { "gen_ai.operation.name": "chat" } }];
    const told = { id: session, outcome: "completed", agent: "codex", model, spans };
    await t.post("/api/agent-traces/ingest", { token, json: { repoKey: "acme/shop", sessions: [told] } });
  };
  const figures = (t: TestInstance) =>
    t.rows("SELECT device_id, tokens FROM session_figures WHERE tokens > 0 ORDER BY device_id");

  it.each([
    ["first", true, "of the machine's own device", true, "redacted"],
    ["first", true, "of another device, as fleets have one for all", false, "redacted"],
    ["last", false, "of the machine's own device", true, "redacted"],
    ["last", false, "of another device, as fleets have one for all", false, "redacted"],
    ["first", true, "of the machine's own device", true, "metadata"],
    ["last", false, "of the machine's own device", true, "metadata"],
  ] as const)(
    "counts calls once although both reports share no id: the export comes %s (%s), by a token %s (%s), in mode %s",
    async (_, isFirst, _token, isSame, captureMode) => {
      const t = await startInstance();
      const team = await t.team({ name: "Acme" });
      await setPolicy(t.instance.core, team.id, { captureMode }, COMMAND_LINE);
      const device = await t.device(team);
      const exporter = isSame ? device : await t.device(team);
      const ways = [
        () => exported(t, exporter.token, "c-1", 100),
        () => captured(t, device.token, "c-1", 100),
        () => exported(t, exporter.token, "c-1", 200),
        () => captured(t, device.token, "c-1", 200),
      ];
      for (const way of isFirst ? ways : ways.toReversed()) {
        await way();
        await t.instance.settle();
      }
      // Nobody else reports the other session.
      await exported(t, exporter.token, "c-2", 300);
      const told = await spend(t, device);
      expect(told).toMatchObject({ usages: 3, inputTokens: 600, outputTokens: 126 });
      expect(Object.fromEntries(told.groups.map(({ key, usages }: Record<string, unknown>) => [key, usages]))).toEqual({
        "c-1": 2,
        "c-2": 1,
      });
      expect((await spend(t, device, "repo")).groups).toMatchObject([
        { key: "acme/shop", usages: 2 },
        { key: "", usages: 1 },
      ]);
      expect(figures(t).map(({ tokens }) => tokens)).toEqual(expect.arrayContaining([342, 384]));
      expect(figures(t)).toHaveLength(2);
      expect(t.rows("SELECT sum(usages) AS usages, sum(input) AS input FROM spend_days")).toEqual([
        { usages: 3, input: 600 },
      ]);
    },
  );

  it("counts the exported usage again once the capture client's report is erased", async () => {
    const t = await startInstance();
    const team = await t.team({ name: "Acme" });
    const [device, exporter] = [await t.device(team), await t.device(team)];
    await exported(t, exporter.token, "c-1", 100);
    await captured(t, device.token, "c-1", 100);
    expect(await spend(t, device)).toMatchObject({ usages: 1, groups: [{ key: "c-1" }] });
    const { core } = t.instance;
    await eraseNow(core, { device: device.deviceId });
    expect(await spend(t, exporter, "repo")).toMatchObject({
      usages: 1,
      inputTokens: 100,
      groups: [{ key: "" }],
    });
  });

  it("leaves a session as the capture client reported it: prompts, files and edits", async () => {
    const { t, token } = await startWithDevice();
    const session = {
      id: "s-1",
      outcome: "completed",
      agent: "claude-code",
      startedAt: "2026-11-21T07:00:00Z",
      files: ["a.ts"],
      prompts: [{ text: "Fix the login", at: "2026-11-21T07:00:00Z" }],
      spans: [
        { id: "toolu_1", kind: "tool", edits: [{ path: "a.ts", startLine: 1, endLine: 2 }], attributes: { kept: 1 } },
      ],
    };
    await t.post("/api/agent-traces/ingest", { token, json: { repoKey: "acme/shop", sessions: [session] } });
    await t.post("/v1/logs", {
      token,
      json: claudeLogs(
        ["user_prompt", { prompt: "Fix the login", "prompt.id": "p" }],
        ["tool_result", { tool_name: "Edit", tool_use_id: "toolu_1", success: "false" }],
      ),
    });
    expect(t.rows("SELECT repo_key FROM trace_sessions")).toEqual([{ repo_key: "acme/shop" }]);
    expect(sessions(t)).toMatchObject([
      {
        startedAt: "2026-11-21T07:00:00Z",
        endedAt: "2026-11-21T08:00:00.000Z",
        files: ["a.ts"],
        prompts: session.prompts,
      },
    ]);
    expect(spans(t)).toMatchObject([
      { edits: [{ path: "a.ts" }], attributes: { kept: 1, "gen_ai.tool.name": "Edit", "error.type": "tool_error" } },
    ]);
  });

  it("grows a session piece by piece: prompts are added, times widen, a commit is not taken back", async () => {
    const { t, token } = await startWithDevice();
    const send = (...records: ClaudeRecord[]) => t.post("/v1/logs", { token, json: claudeLogs(...records) });
    await send(["user_prompt", { prompt: "One", "prompt.id": "1" }, 5_000]);
    expect(sessions(t)[0].outcome).toBe("abandoned");
    await send(
      [...claudeCall("req_1"), 6_000],
      ["tool_result", { tool_parameters: '{"git_commit_id":"abcdef1"}' }, 6_500],
    );
    await send(["user_prompt", { prompt: "Two", "prompt.id": "2" }, 9_000]);
    await send(["user_prompt", { prompt: "Late", "prompt.id": "0" }, 1_000]);
    expect(sessions(t)).toMatchObject([
      {
        startedAt: "2026-11-21T08:00:01.000Z",
        endedAt: "2026-11-21T08:00:09.000Z",
        outcome: "committed",
        commits: [{ sha: "abcdef1" }],
      },
    ]);
    expect(sessions(t)[0].prompts.map(({ text }: { text: string }) => text)).toEqual(["One", "Two", "Late"]);
  });

  it("understands Codex, whose input includes what was cached, and which says its time as an attribute", async () => {
    const { t, device } = await startWithDevice();
    const of = (event: string, values: Record<string, string>) => ({
      "event.name": event,
      "event.timestamp": "2026-11-21T08:00:00.250Z",
      "conversation.id": "c-1",
      model: "gpt-5.1-codex",
      ...values,
    });
    const json = eventLogs(
      { "service.name": "codex_exec" },
      of("codex.user_prompt", { prompt: "[REDACTED]", prompt_length: "84" }),
      of("codex.sse_event", { "event.kind": "response.created" }),
      of("codex.sse_event", {
        "event.kind": "response.completed",
        input_token_count: "3312",
        output_token_count: "42",
        cached_token_count: "3010",
        cache_write_token_count: "201",
        reasoning_token_count: "5",
      }),
      of("codex.tool_result", {
        tool_name: "exec_command",
        call_id: "call_1",
        arguments: "ls",
        output: "a",
        success: "true",
      }),
    );
    expect((await t.post("/v1/logs", { token: device.token, json })).body).toEqual({});
    expect(sessions(t)).toMatchObject([{ id: "c-1", outcome: "completed" }]);
    // The same call once more, as a span. It names no session and is found by its trace.
    const trace = { trace: "b".repeat(32) };
    const traces = spansOf(
      { "service.name": "codex_exec" },
      "codex_exec",
      { ...trace, name: "run_turn", values: { "conversation.id": "c-1" } },
      {
        ...trace,
        name: "handle_responses",
        values: {
          "gen_ai.usage.input_tokens": "3312",
          "gen_ai.usage.cache_read.input_tokens": "3010",
          "gen_ai.usage.cache_write.input_tokens": "201",
          "gen_ai.usage.output_tokens": "42",
        },
      },
      {
        name: "handle_responses",
        trace: "c".repeat(32),
        values: { "gen_ai.usage.input_tokens": 9, "gen_ai.usage.output_tokens": 9 },
      },
      { ...trace, name: "fs.read_file", values: {} },
    );
    expect((await t.post("/v1/traces", { token: device.token, json: traces })).body).toEqual({});
    expect(sessions(t)).toMatchObject([
      {
        id: "c-1",
        agent: "codex",
        prompts: [{ chars: 84 }],
        startedAt: "2026-11-21T08:00:00.000Z",
        outcome: "completed",
      },
    ]);
    expect(spans(t).map(({ name }) => name)).toEqual(["execute_tool exec_command", "chat"]);
    expect(await spend(t, device)).toMatchObject(ONE_CALL);
  });

  it("understands Gemini CLI, and counts its calls by the event that tells what was cached", async () => {
    const { t, device } = await startWithDevice();
    const of = (event: string, values: Record<string, string | number | boolean>) => ({
      "event.name": event,
      "event.timestamp": "2026-11-21T08:00:01.000Z",
      ...values,
    });
    const call = {
      input_token_count: 3111,
      output_token_count: 37,
      cached_content_token_count: 3010,
      thoughts_token_count: 5,
    };
    const json = eventLogs(
      { "service.name": "gemini-cli", "session.id": "g-1" },
      of("gemini_cli.user_prompt", { prompt: "Hi", prompt_length: 2, prompt_id: "g-1" }),
      of("gemini_cli.api_response", { model: "gemini-2.5-pro", tool_token_count: 0, ...call }),
      of("gen_ai.client.inference.operation.details", {
        "gen_ai.usage.input_tokens": 3111,
        "gen_ai.usage.output_tokens": 37,
      }),
      of("gemini_cli.tool_call", { function_name: "write_file", duration_ms: 18, success: true, function_args: "{}" }),
    );
    expect((await t.post("/v1/logs", { token: device.token, json })).status).toBe(200);
    expect(spans(t)).toMatchObject([{ name: "execute_tool write_file", kind: "tool" }]);
    expect(await spend(t, device, "model")).toMatchObject({
      usages: 1,
      inputTokens: 101,
      outputTokens: 42,
      cacheReadTokens: 3010,
      groups: [{ key: "gemini-2.5-pro" }],
    });
  });

  it("tells calls of one tool apart that Gemini CLI tells of in the same millisecond, however often it does", async () => {
    const { t, token } = await startWithDevice();
    const read = (path: string, success = true) => ({
      "event.name": "gemini_cli.tool_call",
      "event.timestamp": "2026-11-21T08:00:01.000Z",
      ...{ function_name: "read_file", function_args: JSON.stringify({ path }), duration_ms: 1, success },
    });
    const calls = [read("a.ts"), read("b.ts"), read("a.ts"), read("gone.ts", false)];
    const json = eventLogs({ "service.name": "gemini-cli", "session.id": "g-1" }, ...calls);
    for (let times = 0; times < 2; times++) await t.post("/v1/logs", { token, json });
    const told = spans(t).map(({ attributes }) => [
      attributes["gen_ai.tool.call.arguments"],
      attributes["error.type"] !== undefined,
    ]);
    expect(told).toEqual([
      ['{"path":"a.ts"}', false],
      ['{"path":"b.ts"}', false],
      ['{"path":"gone.ts"}', true],
    ]);
  });

  it("records metadata alone where no more is allowed, and nothing where nothing is", async () => {
    const { t, token, team, deviceId } = await startWithDevice();
    await setPolicy(t.instance.core, team.id, parsePolicy('{"captureMode":"metadata"}'), COMMAND_LINE);
    const json = claudeLogs(
      ["user_prompt", { prompt: "A word of mine", "prompt.id": "p-1", "user.email": "ada@example.com" }],
      claudeCall("req_1"),
      ["tool_result", { tool_name: "Bash", tool_use_id: "toolu_1", tool_input: '{"command":"secret words"}' }],
    );
    expect((await t.post("/v1/logs", { token, json })).status).toBe(200);
    expect(entries(t)).toMatchObject([
      { type: "prompt", id: "p-1", chars: 14 },
      { type: "usage", usage: { input_tokens: 100 } },
    ]);
    expect(sessions(t)).toMatchObject([{ id: "s-1", prompts: [{ chars: 14 }] }]);
    expect(JSON.stringify([entries(t), sessions(t), spans(t)])).not.toMatch(/word|ada@/);
    expect(t.rows("SELECT device_id, deliveries FROM policy_violations")).toEqual([
      { device_id: deviceId, deliveries: 1 },
    ]);

    await setPolicy(t.instance.core, team.id, parsePolicy('{"captureMode":"off"}'), COMMAND_LINE);
    const before = ["telemetry_entries", "trace_sessions", "trace_spans", "deliveries", "otlp_seen"].map((table) =>
      t.count(table),
    );
    expect((await t.post("/v1/logs", { token, json: claudeLogs(claudeCall("req_9")) })).status).toBe(200);
    expect(t.rows("SELECT deliveries FROM policy_violations")).toEqual([{ deliveries: 2 }]);
    expect(
      ["telemetry_entries", "trace_sessions", "trace_spans", "deliveries", "otlp_seen"].map((table) => t.count(table)),
    ).toEqual(before);
  });

  it("tells once what is withheld of a request that is stored in several transactions", async () => {
    const { t, token, team } = await startWithDevice();
    await setPolicy(t.instance.core, team.id, parsePolicy('{"captureMode":"metadata"}'), COMMAND_LINE);
    const prompts = Array.from(
      { length: 1_200 },
      (_, i) =>
        ["user_prompt", { prompt: "A word of mine", "prompt.id": `p-${i}` }] as Parameters<typeof claudeLogs>[0],
    );
    expect((await t.post("/v1/logs", { token, json: claudeLogs(...prompts) })).status).toBe(200);
    const deliveries = t.rows("SELECT items, withheld FROM deliveries WHERE kind = 'telemetry' ORDER BY id");
    expect(deliveries.map(({ items }) => items)).toEqual([500, 500, 200]);
    expect(deliveries.map(({ withheld }) => withheld)).toEqual([deliveries[0]?.withheld, 0, 0]);
    expect(deliveries[0]?.withheld).toBeGreaterThan(0);
  });

  it("replaces secrets before anything is stored", async () => {
    const { t, token } = await startWithDevice();
    const secret = `ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)}`;
    await t.post("/v1/logs", {
      token,
      json: claudeLogs(
        ["user_prompt", { prompt: `use ${secret}`, "prompt.id": "p" }],
        ["tool_result", { tool_name: "Bash", tool_use_id: "t", tool_input: `{"command":"echo ${secret}"}` }],
      ),
    });
    expect(entries(t)[0].text).toMatch(/^use \[/);
    expect(JSON.stringify([entries(t), sessions(t), spans(t)])).not.toContain(secret);
  });

  it("takes several sessions in one request, each on its own", async () => {
    const { t, device } = await startWithDevice();
    const json = claudeLogs(
      claudeCall("req_1"),
      claudeCall("req_2", { "session.id": "s-2" }),
      claudeCall("req_3", { "session.id": "s-2" }),
    );
    await t.post("/v1/logs", { token: device.token, json });
    expect(sessions(t).map(({ id }) => id)).toEqual(["s-1", "s-2"]);
    expect((await spend(t, device)).groups).toMatchObject([{ usages: 2 }, { usages: 1 }]);
  });

  it("stores thousands of records in deliveries that verify", async () => {
    const { t, token } = await startWithDevice();
    const calls = Array.from({ length: 2_499 }, (_, i) => claudeCall(`req_${i}`));
    const prompt: ClaudeRecord = ["user_prompt", { prompt: "use AKIAIOSFODNN7EXAMPLA" }];
    const body = Buffer.from(gzipSync(JSON.stringify(claudeLogs(prompt, ...calls))));
    const answer = await t.post("/v1/logs", {
      token,
      body,
      headers: { "content-type": "application/json", "content-encoding": "gzip" },
    });
    expect([answer.status, answer.body]).toEqual([200, {}]);
    expect(t.rows("SELECT count(*) AS n, max(seq) AS last FROM telemetry_entries")).toEqual([
      { n: 2_500, last: 2_500 },
    ]);
    const redacted = t.rows("SELECT redacted FROM deliveries WHERE kind = 'telemetry' ORDER BY id");
    expect(redacted.map((one) => one.redacted)).toEqual([1, 0, 0, 0, 0]);
    expect(t.count("trace_spans")).toBe(2_499);
    expect(verifyLedger(t.instance.core, undefined, () => {})).toMatchObject({ faults: [] });
  });

  it("says what it did not take: only the records that are invalid", async () => {
    const { t, token } = await startWithDevice();
    const json = claudeLogs(claudeCall("req_1"));
    const records = json.resourceLogs[0]?.scopeLogs[0]?.logRecords as unknown[];
    const wide = Object.fromEntries(Array.from({ length: 16_385 }, (_, i) => [`a${i}`, 1]));
    records.push(null, "text", { attributes: attributes(wide) });
    const answer = await t.post("/v1/logs", { token, json });
    expect([answer.status, answer.body]).toEqual([
      200,
      { partialSuccess: { rejectedLogRecords: "3", errorMessage: expect.stringContaining("16384 attributes") } },
    ]);
    expect(entries(t)).toHaveLength(1);
  });

  it("takes a member of a wrong type as absent", async () => {
    const { t, token } = await startWithDevice();
    for (const json of [
      {},
      { resourceLogs: [] },
      { resourceLogs: null },
      {
        resourceLogs: [null, 1, "x", [], { resource: [], scopeLogs: {} }, { scopeLogs: [{ scope: 5, logRecords: 7 }] }],
      },
      { resourceLogs: [{ scopeLogs: [{ logRecords: [{ attributes: { a: 1 }, body: [], timeUnixNano: {} }] }] }] },
      claudeLogs(["api_request", { input_tokens: -5, output_tokens: "many", request_id: "req_1" }]),
      claudeLogs(["api_request", { input_tokens: 0, output_tokens: 0, request_id: "req_1" }]),
      claudeLogs(["user_prompt", { "session.id": "\u0000" }]),
    ])
      expect((await t.post("/v1/logs", { token, json })).status).toBe(200);
    expect((await t.post("/v1/traces", { token, json: { resourceSpans: null } })).body).toEqual({});
    expect((await t.post("/v1/metrics", { token, json: { resourceMetrics: null } })).body).toEqual({});
    expect(t.count("telemetry_entries") + t.count("trace_sessions")).toBe(0);
    const year2250 = Date.UTC(2250, 0);
    const far = { prompt: "Mend it", "event.timestamp": new Date(year2250).toISOString() };
    await t.post("/v1/logs", { token, json: claudeLogs(["user_prompt", far, year2250 - Date.UTC(2026, 10, 21, 8)]) });
    expect(t.rows("SELECT client_timestamp FROM telemetry_entries")).toEqual([{ client_timestamp: null }]);
  });

  it("refuses a tier without telemetry, and stores only entries for one without traces", async () => {
    const t = await startInstance();
    const [none, starter] = [
      await t.device(await t.team({ tier: "none" })),
      await t.device(await t.team({ tier: "starter" })),
    ];
    const json = claudeLogs(claudeCall("req_1"));
    const refused = await t.post("/v1/logs", { token: none.token, json });
    expect([refused.status, refused.body]).toEqual([
      403,
      { code: 7, message: 'The tier "none" does not include telemetry.' },
    ]);
    expect((await t.post("/v1/metrics", { token: none.token, json: {} })).status).toBe(403);
    expect((await t.post("/v1/logs", { token: starter.token, json })).status).toBe(200);
    expect([t.count("telemetry_entries"), t.count("trace_sessions")]).toEqual([1, 0]);
    expect((await t.post("/v1/traces", { token: starter.token, json: {} })).status).toBe(403);
  });
});

describe("otlpTraces", () => {
  it("counts Claude Code's spans as the same calls as its records", async () => {
    const { t, device } = await startWithDevice();
    const { token } = device;
    const used = {
      model: "claude-opus-4-6",
      input_tokens: 100,
      output_tokens: 40,
      cache_read_tokens: 3000,
      cache_creation_tokens: 200,
    };
    const json = spansOf(
      { "service.name": "claude-code" },
      "com.anthropic.claude_code.tracing",
      {
        id: "1".repeat(16),
        name: "claude_code.interaction",
        values: { "session.id": "s-1", "span.type": "interaction" },
      },
      {
        id: "2".repeat(16),
        parent: "1".repeat(16),
        name: "claude_code.llm_request",
        values: { "session.id": "s-1", "span.type": "llm_request", request_id: "req_1", ...used },
      },
      {
        id: "3".repeat(16),
        parent: "2".repeat(16),
        name: "claude_code.tool",
        values: { "session.id": "s-1", "span.type": "tool", tool_name: "Edit", tool_use_id: "toolu_1" },
      },
      {
        parent: "3".repeat(16),
        name: "claude_code.tool.execution",
        values: { "session.id": "s-1", "span.type": "tool.execution" },
      },
    );
    await t.post("/v1/logs", { token, json: claudeLogs(claudeCall("req_1")) });
    expect((await t.post("/v1/traces", { token, json })).body).toEqual({});
    expect(spans(t).map(({ id, parentId }) => [id, parentId])).toEqual([
      ["req_1", "1".repeat(16)],
      ["1".repeat(16), undefined],
      ["toolu_1", "req_1"],
    ]);
    // Only the log record says for how long the cache keeps what was written.
    expect(spans(t)[0].usage.cache_creation).toEqual({ ephemeral_5m_input_tokens: 150, ephemeral_1h_input_tokens: 50 });
    expect(await spend(t, device)).toMatchObject({
      usages: 1,
      inputTokens: 100,
      cacheWriteTokens: 200,
      reportedUsd: 0.0125,
    });
  });

  it("reads any program's spans by the semantic conventions, whatever they call what was cached", async () => {
    const { t, device } = await startWithDevice();
    const base = { "gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-5", "gen_ai.usage.output_tokens": 10 };
    const json = spansOf(
      { "service.name": "github-copilot", "service.version": "1.0.102" },
      "copilot",
      {
        id: "1".repeat(16),
        name: "invoke_agent",
        values: { "gen_ai.operation.name": "invoke_agent", "gen_ai.conversation.id": "c-1" },
      },
      {
        parent: "1".repeat(16),
        name: "chat gpt-5",
        values: { ...base, "gen_ai.usage.input_tokens": 1000, "gen_ai.usage.cache_read.input_tokens": 900 },
      },
      {
        parent: "1".repeat(16),
        name: "chat gpt-5",
        values: { ...base, "gen_ai.usage.input_tokens": 1000, "gen_ai.usage.cache_creation.input_tokens": 300 },
      },
      {
        parent: "1".repeat(16),
        name: "execute_tool edit",
        values: {
          "gen_ai.operation.name": "execute_tool",
          "gen_ai.tool.name": "edit",
          "gen_ai.tool.call.arguments": "{}",
          "gen_ai.tool.definitions": "[…]",
          "db.statement": "SELECT 2",
          "http.request.header.authorization": ["Bearer secret"],
        },
      },
      { name: "sql.execute", values: { "db.statement": "SELECT 1" } },
    );
    const answer = await t.post("/v1/traces", { token: device.token, json });
    expect([answer.status, answer.body]).toEqual([200, {}]);
    expect(sessions(t)).toMatchObject([
      { id: "c-1", agent: "copilot-cli", agentVersion: "1.0.102", model: "gpt-5", outcome: "completed" },
    ]);
    expect(spans(t).map(({ kind }) => kind)).toEqual(["agent", "llm", "llm", "tool"]);
    expect(spans(t)[3].attributes).toEqual({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "edit",
      "gen_ai.tool.call.arguments": "{}",
    });
    expect(await spend(t, device)).toMatchObject({
      usages: 2,
      inputTokens: 800,
      outputTokens: 20,
      cacheReadTokens: 900,
      cacheWriteTokens: 300,
    });
  });

  it("titles a session by its first prompt, where each call repeats all that was said before", async () => {
    const { t, token, team } = await startWithDevice();
    const part = (role: string, content: string) => ({ role, parts: [{ type: "text", content }] });
    const asked = "Mend the login with AKIAIOSFODNN7EXAMPLA\nand quickly";
    const said = [part("system", "You are an agent"), part("user", asked)];
    const call = (session: string, messages: unknown) => ({
      name: "chat gpt-5",
      values: {
        "gen_ai.operation.name": "chat",
        "gen_ai.conversation.id": session,
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.input.messages": typeof messages === "string" ? messages : JSON.stringify(messages),
      },
    });
    const send = async (...calls: ReturnType<typeof call>[]) => {
      const answer = await t.post("/v1/traces", { token, json: spansOf({}, "x", ...calls) });
      expect([answer.status, answer.body]).toEqual([200, {}]);
    };
    await send(call("c-1", said), call("c-1", [...said, part("assistant", "Done"), part("user", "Thanks")]));
    // Later calls summarise the beginning, or leave it out.
    await send(call("c-1", [part("user", "Go on")]), call("c-2", "{ no list"), call("c-3", [part("user", "Chat: hi")]));
    await setPolicy(t.instance.core, team.id, parsePolicy('{"captureMode":"metadata"}'), COMMAND_LINE);
    await send(call("c-4", said));
    expect(t.rows("SELECT deliveries FROM policy_violations")).toEqual([{ deliveries: 1 }]);
    expect(t.rows("SELECT withheld FROM deliveries ORDER BY id DESC LIMIT 1")).toEqual([{ withheld: 2 }]);
    const { body } = await t.get("/api/sessions", { token: await apiToken(t, team.id) });
    const titles = body.items.map(({ sessionId, firstPrompt }: Record<string, unknown>) => [sessionId, firstPrompt]);
    expect(Object.fromEntries(titles)).toEqual({
      "c-1": expect.stringMatching(/^Mend the login with \S+ and quickly$/),
      "c-2": null,
      "c-3": "Chat: hi",
      "c-4": null,
    });
    expect(JSON.stringify(sessions(t))).not.toContain("AKIA");
  });

  it("reads OpenInference's spans, and makes a session of a trace that names none", async () => {
    const { t, device } = await startWithDevice();
    const json = spansOf(
      { "service.name": "notebook" },
      "openinference",
      {
        name: "ChatCompletion",
        trace: "d".repeat(32),
        values: {
          "openinference.span.kind": "LLM",
          "llm.model_name": "gpt-5",
          "llm.token_count.prompt": 500,
          "llm.token_count.completion": 25,
          "llm.token_count.prompt_details.cache_read": 100,
        },
      },
      {
        name: "search",
        trace: "d".repeat(32),
        values: { "openinference.span.kind": "TOOL", "tool.name": "search", "input.value": "q" },
      },
      { name: "chain", trace: "d".repeat(32), values: { "openinference.span.kind": "CHAIN" } },
    );
    expect((await t.post("/v1/traces", { token: device.token, json })).status).toBe(200);
    expect(sessions(t)).toMatchObject([{ id: "d".repeat(32), agent: "notebook" }]);
    expect(spans(t)).toMatchObject([
      { kind: "llm", attributes: { "gen_ai.request.model": "gpt-5" } },
      { kind: "tool", attributes: { "gen_ai.tool.name": "search", "gen_ai.tool.call.arguments": "q" } },
    ]);
    expect(await spend(t, device, "model")).toMatchObject({
      usages: 1,
      inputTokens: 400,
      outputTokens: 25,
      cacheReadTokens: 100,
      groups: [{ key: "gpt-5" }],
    });
  });

  it("reads the AI SDK's spans, as opencode sends them: a call within another counts once", async () => {
    const { t, device } = await startWithDevice();
    const used = {
      "session.id": "ses_1",
      "ai.usage.inputTokens": 3312,
      "ai.usage.inputTokenDetails.cacheReadTokens": 3010,
      "ai.usage.inputTokenDetails.cacheWriteTokens": 201,
      "ai.usage.cachedInputTokens": 3010,
      "ai.usage.outputTokens": 42,
    };
    const [outer, inner] = ["5".repeat(16), "6".repeat(16)];
    const json = spansOf(
      { "service.name": "opencode" },
      "ai",
      {
        id: inner,
        parent: outer,
        name: "ai.streamText.doStream",
        values: {
          ...used,
          "gen_ai.request.model": "claude-opus-4-6",
          "gen_ai.usage.input_tokens": 3312,
          "gen_ai.usage.output_tokens": 42,
        },
      },
      {
        parent: outer,
        name: "ai.toolCall",
        values: {
          "session.id": "ses_1",
          "ai.toolCall.name": "bash",
          "ai.toolCall.id": "call_1",
          "ai.toolCall.args": "{}",
          "ai.toolCall.result": "ok",
        },
      },
      { id: outer, name: "ai.streamText", values: used },
    );
    expect((await t.post("/v1/traces", { token: device.token, json })).status).toBe(200);
    expect(spans(t)[1]).toMatchObject({
      kind: "tool",
      attributes: { "gen_ai.tool.name": "bash", "gen_ai.tool.call.result": "ok" },
    });
    expect(await spend(t, device)).toMatchObject(ONE_CALL);
  });

  it("rejects spans without their ids, and says how many in the type that was sent", async () => {
    const { t, token } = await startWithDevice();
    const json = spansOf({ "service.name": "x" }, "x", {
      name: "a",
      values: { "gen_ai.operation.name": "chat" },
      trace: "0".repeat(32),
    });
    expect((await t.post("/v1/traces", { token, json })).body.partialSuccess).toMatchObject({ rejectedSpans: "1" });
    const answer = await binary(t, "/v1/traces", token, protobufOf(json));
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/x-protobuf"]);
    const [partial] = wireFields(answer.bytes);
    const [rejected, message] = wireFields(partial?.bytes as Buffer);
    expect([partial?.number, rejected?.number, rejected?.value, message?.number]).toEqual([1, 1, 1, 2]);
    expect(t.count("trace_sessions")).toBe(0);
    const chat = { name: "a", values: { "gen_ai.operation.name": "chat" } };
    const ofOtherForms = [
      { ...chat, id: "a".repeat(15) },
      { ...chat, id: "A".repeat(16) },
    ];
    await t.post("/v1/traces", { token, json: spansOf({}, "x", ...ofOtherForms) });
    expect(spans(t).map(({ id }) => id)).toEqual(["a".repeat(16)]);
  });
});

describe("OTLP in Protocol Buffers", () => {
  it("is the same as in JSON, compressed and not, small and large", async () => {
    const t = await startInstance({ settings: { workers: "1" } });
    const requests = [
      claudeLogs(["user_prompt", { prompt: "Größe 🦉", "prompt.id": "p" }], claudeCall("req_1")),
      claudeLogs(...Array.from({ length: 200 }, (_, i) => claudeCall(`req_${i}`))),
    ];
    const inJson = await t.device();
    const inProtobuf = await t.device();
    const compressed = await t.device();
    for (const request of requests) {
      await t.post("/v1/logs", { token: inJson.token, json: request });
      const bytes = protobufOf(request);
      const answer = await binary(t, "/v1/logs", inProtobuf.token, bytes);
      expect([answer.status, answer.headers.get("content-type"), answer.bytes.length]).toEqual([
        200,
        "application/x-protobuf",
        0,
      ]);
      const gzip = await binary(t, "/v1/logs", compressed.token, Buffer.from(gzipSync(bytes)), {
        "content-encoding": "gzip",
      });
      expect(gzip.status).toBe(200);
    }
    const of = ({ deviceId }: TestDevice) => [
      t.rows("SELECT document FROM trace_sessions WHERE device_id = ?", deviceId),
      t.rows(
        "SELECT p.document FROM trace_spans p JOIN trace_sessions s ON s.id = p.session_id WHERE s.device_id = ? ORDER BY p.id",
        deviceId,
      ),
      t.rows("SELECT max_seq, entry_count FROM telemetry_streams WHERE device_id = ?", deviceId),
    ];
    expect(of(inJson)[2]).toEqual([{ max_seq: 201, entry_count: 201 }]);
    expect(of(inProtobuf)).toEqual(of(inJson));
    expect(of(compressed)).toEqual(of(inJson));
  });

  it("answers what is wrong as a Status in the same type, and stores nothing", async () => {
    const { t, token } = await startWithDevice({ settings: { limitTelemetry: "4/60" } });
    const good = protobufOf(claudeLogs(claudeCall("req_1")));
    const broken = await binary(t, "/v1/logs", token, Buffer.from(good.subarray(0, good.length - 3)));
    expect([broken.status, broken.headers.get("content-type"), statusOf(broken.bytes)]).toEqual([
      400,
      "application/x-protobuf",
      { code: 3, message: "The body is not an OTLP logs request: a field ends too early." },
    ]);
    const encoded = await t.post("/v1/metrics", { json: {}, headers: { authorization: `Bearer%20${token}` } });
    expect(encoded.status).toBe(200);
    const stranger = await binary(t, "/v1/logs", "rkd_nobody", good);
    expect([stranger.status, statusOf(stranger.bytes).code, stranger.headers.get("www-authenticate")]).toEqual([
      401,
      16,
      'Bearer error="invalid_token"',
    ]);
    const large = await binary(t, "/v1/logs", token, Buffer.alloc(8 * 1024 * 1024 + 1));
    expect([large.status, statusOf(large.bytes).code]).toEqual([413, 8]);
    const bomb = await binary(t, "/v1/logs", token, Buffer.from(gzipSync(Buffer.alloc(9 * 1024 * 1024))), {
      "content-encoding": "gzip",
    });
    expect([bomb.status, statusOf(bomb.bytes).code]).toEqual([413, 8]);
    t.instance.core.store.db.pragma("query_only = ON");
    const full = await binary(t, "/v1/logs", token, good);
    t.instance.core.store.db.pragma("query_only = OFF");
    expect([full.status, statusOf(full.bytes).code, full.headers.get("retry-after")]).toEqual([503, 14, "5"]);
    const soon = await binary(t, "/v1/logs", token, good);
    expect([soon.status, statusOf(soon.bytes).code]).toEqual([429, 8]);
    expect(Number(soon.headers.get("retry-after"))).toBeGreaterThan(0);
    expect([t.count("telemetry_entries"), t.count("trace_sessions")]).toEqual([0, 0]);
  });
});

it("takes what is exported into a database of the first schema", async () => {
  const { t, token } = await startWithDevice({ directory: await firstSchemaDirectory() });
  const request = { token, json: claudeLogs(claudeCall("req_1")) };
  for (let i = 0; i < 2; i++) expect((await t.post("/v1/logs", request)).status).toBe(200);
  expect(t.rows("SELECT repo_key, entry_count FROM telemetry_streams ORDER BY id")).toEqual([
    { repo_key: "r", entry_count: 1 },
    { repo_key: "(otlp)", entry_count: 1 },
  ]);
});

describe("otlpMetrics", () => {
  it("takes metrics, keeps none and notes the device as heard of", async () => {
    const { t, token, deviceId } = await startWithDevice();
    t.clock.advance(DAY_MS);
    const metric = {
      name: "claude_code.token.usage",
      sum: { dataPoints: [{ asInt: "5", timeUnixNano: nanos() }, {}] },
    };
    const answer = await t.post("/v1/metrics", {
      token,
      json: { resourceMetrics: [{ scopeMetrics: [{ metrics: [metric, 5] }] }] },
    });
    expect(answer.body).toEqual({ partialSuccess: { rejectedDataPoints: "1", errorMessage: expect.any(String) } });
    expect(t.count("deliveries")).toBe(0);
    const fate = (name: string, count: number) => `reckon_otlp_records_total{signal="metrics",fate="${name}"} ${count}`;
    expect(received.lines(t.instance.core).slice(2)).toEqual([
      fate("recorded", 0),
      fate("dropped", 2),
      fate("rejected", 1),
    ]);
    expect(t.rows("SELECT last_seen_at AS at FROM devices WHERE id = ?", deviceId)).toEqual([{ at: t.clock.now() }]);
  });
});

it("takes counts and costs that are sent as text", async () => {
  const { t, token } = await startWithDevice();
  const costs = ["0.0125", "3e-7", "0.5 USD", "-1"];
  const calls = costs.map((cost_usd, i) => claudeCall(`req-${i}`, { input_tokens: "7", output_tokens: "9", cost_usd }));
  expect((await t.post("/v1/logs", { token, json: claudeLogs(...calls) })).status).toBe(200);
  const { total } = (await t.get("/api/spend", { token })).body;
  expect(total).toMatchObject({ usages: 4, inputTokens: 28, outputTokens: 36 });
  expect(total.reportedUsd).toBeCloseTo(0.0125003, 9);
});
