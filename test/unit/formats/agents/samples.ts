/** A short session of each agent: a prompt, an answer, an edit, a commit and what was used, as its current version writes them. */

const AT = "2026-05-04T10:00:00.000Z";
const MADE = Date.UTC(2026, 4, 4, 10);
const SHA = "0123456789abcdef0123456789abcdef01234567";
const COMMIT = "git commit -qam x && git rev-parse HEAD";
const PATH = "/home/kim/shop/a.ts";
const DIFF = "@@ -1,3 +1,4 @@\n one\n-two\n+zwei\n+zwo\n three\n";
const CODEX_ID = "019ed50c-2fb3-7002-a384-360bea6e7f04";

interface Sample {
  readonly path: string;
  readonly records: readonly object[];
}

const claude = (uuid: string, type: "user" | "assistant", content: unknown, more: object = {}) => ({
  ...{ parentUuid: null, isSidechain: false, type, uuid, timestamp: AT, sessionId: "s1" },
  ...{ cwd: "/home/kim/shop", gitBranch: "main", version: "2.1.330", requestId: "req_1" },
  message: {
    ...{ role: type, content, id: "msg_1", model: "claude-opus-5" },
    usage: { input_tokens: 3, output_tokens: 9, cache_creation_input_tokens: 20, cache_read_input_tokens: 400 },
  },
  ...more,
});
const claudeTool = (id: string, name: string, input: object) => [{ type: "tool_use", id, name, input }];
const claudeResult = (id: string, content: string) => [{ type: "tool_result", tool_use_id: id, content }];

const codex = (ordinal: number, type: string, payload: object) => ({ timestamp: AT, ordinal, type, payload });
const codexUsage = { input_tokens: 500, cached_input_tokens: 300, cache_write_input_tokens: 50, output_tokens: 40 };
const codexCall = (call_id: string, cmd: string) => ({
  ...{ type: "function_call", name: "exec_command", call_id, arguments: JSON.stringify({ cmd }) },
});

const gemini = (toolCalls?: object[]) => ({
  ...{ id: "m1", timestamp: AT, type: "gemini", content: "I lower prices.", model: "gemini-2.5-pro" },
  ...{ tokens: { input: 500, output: 30, cached: 300, thoughts: 10, tool: 0 }, ...(toolCalls ? { toolCalls } : {}) },
});
const geminiCall = (id: string, name: string, args: object, output: string, resultDisplay: unknown) => ({
  ...{ id, name, args, status: "success", timestamp: AT, resultDisplay },
  result: [{ functionResponse: { id, name, response: { output } } }],
});

const copilot = (id: string, type: string, data: object) => ({ type, data, id, timestamp: AT, parentId: null });

const row = (table: string, id: string, data: object, more: object = {}) => ({
  ...{ table, id, session_id: "ses_1", time_created: MADE, time_updated: MADE, data: JSON.stringify(data), ...more },
});
const part = (id: string, data: object, role = "assistant") =>
  row("part", id, data, { message_id: role, message: JSON.stringify({ role, modelID: "x", time: { created: MADE } }) });
const opencodeTool = (id: string, tool: string, input: object, output: string, metadata: object) =>
  part(`p ${id}`, {
    ...{ type: "tool", tool, callID: id },
    state: { status: "completed", input, output, metadata, time: { start: MADE, end: MADE + 10 } },
  });

/** Written again whenever something was used. */
const opencodeSession = {
  ...{ table: "session", id: "ses_1", directory: "/home/kim/shop", title: "Selling" },
  ...{ version: "1.18.33", time_updated: MADE },
};

export const SAMPLES: Readonly<Record<string, Sample>> = {
  "claude-code": {
    path: "-home-kim-shop/s1.jsonl",
    records: [
      { type: "queue-operation", operation: "enqueue", timestamp: AT, sessionId: "s1", content: "Sell more." },
      claude("u1", "user", "Sell more."),
      { parentUuid: "u1", isSidechain: false, attachment: { type: "prompt_snapshot" }, type: "attachment", uuid: "x" },
      claude("a1", "assistant", [{ type: "text", text: "I lower prices." }]),
      claude("a2", "assistant", claudeTool("t1", "Edit", { file_path: PATH, old_string: "two" })),
      claude("r1", "user", claudeResult("t1", "The file has been updated."), {
        toolUseResult: {
          filePath: PATH,
          structuredPatch: [{ oldStart: 1, newStart: 1, lines: DIFF.split("\n").slice(1, -1) }],
        },
      }),
      claude("a3", "assistant", claudeTool("t2", "Bash", { command: COMMIT })),
      claude("r2", "user", claudeResult("t2", SHA), { toolUseResult: { stdout: SHA, stderr: "", interrupted: false } }),
      { type: "cost-state", sessionId: "s1", totalCostUSD: 0.01 },
    ],
  },
  codex: {
    path: `2026/05/04/rollout-2026-05-04T10-00-00-${CODEX_ID}.jsonl`,
    records: [
      codex(0, "session_meta", { id: CODEX_ID, cwd: "/home/kim/shop", git: { branch: "main", commit_hash: SHA } }),
      codex(1, "world_state", { full: true }),
      codex(2, "turn_context", { model: "gpt-5.5", cwd: "/home/kim/shop" }),
      codex(3, "event_msg", {
        type: "item_completed",
        item: { type: "UserMessage", id: "u1", content: [{ type: "text", text: "Sell more." }] },
      }),
      codex(4, "response_item", { type: "reasoning", summary: [], encrypted_content: "x" }),
      codex(5, "response_item", {
        ...{ type: "message", role: "assistant", content: [{ type: "output_text", text: "I lower prices." }] },
      }),
      codex(6, "response_item", codexCall("c1", "apply_patch <<'EOF'")),
      codex(7, "token_usage_record", { response_id: "resp_1", usage: codexUsage }),
      codex(8, "event_msg", {
        type: "item_completed",
        item: {
          type: "FileChange",
          id: "c1",
          status: "completed",
          changes: { [PATH]: { type: "update", unified_diff: DIFF } },
        },
      }),
      codex(9, "response_item", {
        type: "function_call_output",
        call_id: "c1",
        output: "Exit code: 0\nOutput:\nSuccess.",
      }),
      codex(10, "response_item", codexCall("c2", COMMIT)),
      codex(11, "response_item", {
        type: "function_call_output",
        call_id: "c2",
        output: `Exit code: 0\nOutput:\n${SHA}\n`,
      }),
    ],
  },
  "copilot-cli": {
    path: "s1/events.jsonl",
    records: [
      copilot("e0", "session.start", {
        ...{ sessionId: "s1", copilotVersion: "1.0.102", selectedModel: "gpt-5" },
        context: { cwd: "/home/kim/shop", branch: "main", headCommit: SHA },
      }),
      copilot("e1", "system.message", { role: "system", content: "You sell." }),
      copilot("e2", "user.message", { content: "Sell more." }),
      copilot("e3", "session.usage_record", {
        usage: { inputTokens: 50, outputTokens: 4, apiCallId: "c1", model: "gpt-5" },
      }),
      copilot("e4", "assistant.message", {
        ...{ model: "gpt-5", content: "I lower prices.", apiCallId: "c1" },
        toolRequests: [
          { toolCallId: "t1", name: "edit", arguments: { path: PATH } },
          { toolCallId: "t2", name: "bash", arguments: { command: COMMIT } },
        ],
      }),
      copilot("e5", "tool.execution_complete", {
        ...{ toolCallId: "t1", success: true, fileEdits: [{ path: PATH }] },
        result: { content: "Updated a file.", detailedContent: `\ndiff --git a${PATH} b${PATH}\n${DIFF}` },
      }),
      copilot("e6", "tool.execution_complete", { toolCallId: "t2", success: true, result: { content: SHA } }),
      copilot("e7", "session.shutdown", { modelMetrics: {} }),
    ],
  },
  cursor: {
    path: "home-kim-shop/agent-transcripts/s1/s1.jsonl",
    records: [
      { role: "user", message: { content: [{ type: "text", text: "<user_query>Sell more.</user_query>" }] } },
      {
        role: "assistant",
        message: {
          content: [
            { type: "text", text: "I lower prices." },
            { type: "tool_use", id: "t1", name: "Shell", input: { command: COMMIT } },
          ],
        },
      },
      { role: "user", message: { content: [{ type: "tool_result", tool_use_id: "t1", content: SHA }] } },
      {
        ...{
          hook_event_name: "afterFileEdit",
          conversation_id: "s1",
          generation_id: "g1",
          workspace_roots: ["/home/kim/shop"],
        },
        ...{ file_path: PATH, edits: [{ old_string: "two", new_string: "zwei\nzwo", startLine: 2 }], timestamp: AT },
      },
    ],
  },
  "gemini-cli": {
    path: "shop/chats/session-2026-05-04T10-00-s1.jsonl",
    records: [
      { sessionId: "s1", projectHash: "x", startTime: AT, lastUpdated: AT, kind: "main" },
      { id: "u1", timestamp: AT, type: "user", content: [{ text: "Sell more." }] },
      { $set: { lastUpdated: AT } },
      gemini(),
      gemini([
        geminiCall("t1", "replace", { file_path: PATH }, "Modified a file.", { filePath: PATH, fileDiff: DIFF }),
        geminiCall("t2", "run_shell_command", { command: COMMIT }, `Output: ${SHA}`, SHA),
      ]),
      { $rewindTo: "u1" },
    ],
  },
  opencode: {
    path: "",
    records: [
      opencodeSession,
      part("p1", { type: "text", text: "Sell more." }, "user"),
      part("p2", { type: "step-start" }),
      part("p3", { type: "text", text: "I lower prices.", time: { start: MADE, end: MADE + 5 } }),
      opencodeTool("t1", "edit", { filePath: PATH }, "Edit applied.", { diff: DIFF }),
      opencodeTool("t2", "bash", { command: COMMIT }, `${SHA}\n`, { exit: 0 }),
      row("message", "m1", {
        ...{ role: "assistant", modelID: "x", time: { created: MADE, completed: MADE + 90 }, cost: 0.01 },
        tokens: { input: 100, output: 40, reasoning: 2, cache: { read: 3000, write: 200 } },
      }),
      opencodeSession,
    ],
  },
};
