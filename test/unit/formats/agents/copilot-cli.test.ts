import { describe, expect, it } from "vitest";
import { copilotCli } from "../../../../src/formats/agents/copilot-cli.ts";
import { eventsOf, ofType } from "./reading.ts";

const AT = "2026-05-04T10:00:00.000Z";
const own = (key: string) => ({ key, sessionId: "s1", at: AT });
const event = (type: string, data: object, id = type, more: object = {}) => ({
  type,
  data,
  id,
  timestamp: AT,
  parentId: null,
  ...more,
});
const context = { cwd: "/home/kim/shop", gitRoot: "/home/kim/shop", branch: "main", headCommit: "4e480f90" };
const start = event("session.start", { sessionId: "s1", copilotVersion: "1.0.102", selectedModel: "gpt-5", context });
const answer = (toolRequests: object[] = [], content = "I lower prices.") =>
  event("assistant.message", { model: "gpt-5", content, toolRequests, apiCallId: "call_1" }, "a1");
const request = (name: string, args: object, toolCallId = "t1") => ({
  toolCallId,
  name,
  arguments: args,
  type: "function",
});
const complete = (data: object, toolCallId = "t1") =>
  event("tool.execution_complete", { toolCallId, success: true, ...data }, `done ${toolCallId}`);
const counts = {
  inputTokens: 3312,
  outputTokens: 42,
  cacheReadTokens: 3010,
  cacheWriteTokens: 201,
  reasoningTokens: 5,
};
const shutdown = (id: string, outputTokens: number) =>
  event("session.shutdown", { modelMetrics: { "gpt-5": { usage: { ...counts, outputTokens } } } }, id);
const read = (...records: unknown[]) => eventsOf(copilotCli, records, "s1/events.jsonl");

const used = { input_tokens: 101, output_tokens: 42, cache_creation_input_tokens: 201, cache_read_input_tokens: 3010 };

describe("a session of Copilot CLI", () => {
  it("is read into what was asked, used, answered, called and given back, until it ends", () => {
    const records = [
      start,
      event("system.message", { role: "system", content: "SYSTEM PROMPT" }),
      event(
        "user.message",
        { content: "Sell more.", transformedContent: "<current_datetime>x</current_datetime>Sell more." },
        "u1",
      ),
      event("session.usage_record", { usage: { ...counts, model: "gpt-5", apiCallId: "call_1" } }, "r1"),
      answer([request("bash", { command: "ls" })]),
      event("tool.execution_start", { toolCallId: "t1", toolName: "bash", arguments: {} }),
      complete({
        shellExecution: { exitCode: 0 },
        result: { content: "prices.txt\n<shellId: 0 completed with exit code 0>" },
      }),
      shutdown("end", 42),
    ];
    expect(read(...records)).toEqual([
      {
        ...{ type: "session", sessionId: "s1", at: AT, cwd: "/home/kim/shop", branch: "main", head: "4e480f90" },
        ...{ model: "gpt-5", agentVersion: "1.0.102" },
      },
      { type: "prompt", ...own("u1"), text: "Sell more." },
      { type: "usage", ...own("r1"), callId: "call_1", model: "gpt-5", usage: { id: "call_1", ...used } },
      { type: "reply", ...own("a1"), callId: "call_1", model: "gpt-5", text: "I lower prices." },
      { type: "tool-call", ...own("a1:t1"), callId: "call_1", toolId: "t1", name: "bash", input: { command: "ls" } },
      {
        ...{
          type: "tool-result",
          ...own("done t1"),
          toolId: "t1",
          isError: false,
          exitCode: 0,
          edits: [],
          commits: [],
        },
        output: "prices.txt\n<shellId: 0 completed with exit code 0>",
      },
      { type: "end", ...own("end") },
    ]);
  });

  it("counts its sums as usage where nothing else reports any; the last sum includes the others", () => {
    const usages = ofType(read(start, answer(), shutdown("e1", 42), shutdown("e2", 50)), "usage");
    expect(usages.map((usage) => [usage.callId, usage.usage])).toEqual([
      ["call_1", { id: "s1:gpt-5", ...used }],
      ["call_1", { id: "s1:gpt-5", ...used, output_tokens: 50 }],
    ]);
  });

  it("reports when it goes on elsewhere, under another name, or from an earlier event", () => {
    const moved = event("session.context_changed", { cwd: "/home/kim/shop/web", branch: "sale" });
    const named = event("session.title_changed", { title: "Selling" });
    const other = event("session.model_change", { newModel: "gpt-6" });
    const back = event("session.snapshot_rewind", { upToEventId: "u1", eventsRemoved: 4 }, "b1");
    expect(read(start, moved, named, other, back).slice(1)).toEqual([
      { type: "session", sessionId: "s1", at: AT, cwd: "/home/kim/shop/web", branch: "sale" },
      { type: "session", sessionId: "s1", at: AT, title: "Selling" },
      { type: "session", sessionId: "s1", at: AT, model: "gpt-6" },
      { type: "rewind", ...own("b1"), from: "u1" },
    ]);
  });
});

it.each<[string, object, object?]>([
  ["what a skill says", { content: "Use the skill.", source: "skill-pdf" }],
  ["what a sub-agent is told", { content: "Find it." }, { agentId: "x" }],
  ["nothing", { content: "" }],
])("a prompt of Copilot CLI is not %s", (_, data, more) => {
  expect(read(event("user.message", data, "u1", more))).toEqual([]);
});

describe("a tool's result of Copilot CLI", () => {
  const diffOf = (path: string) =>
    `\ndiff --git a${path} b${path}\nindex 0000000..0000000 100644\n--- a${path}\n+++ b${path}\n@@ -1,3 +1,4 @@\n one\n-two\n+zwei\n+zwo\n three\n`;
  const lines = { startLine: 2, endLine: 3, added: 2, removed: 1 };
  const path = "/home/kim/shop/a.ts";
  const editsOf = (...records: unknown[]) => ofType(read(...records), "tool-result").flatMap((result) => result.edits);

  it("has the edits of the files that it reports as changed", () => {
    const result = { content: "Updated.", detailedContent: diffOf(path) };
    expect(editsOf(complete({ fileEdits: [{ path, kind: "edit" }], result }))).toEqual([{ path, ...lines }]);
    const both = { detailedContent: diffOf(path) + diffOf("/src/b.ts") };
    const fileEdits = [{ path }, { path: "src/b.ts" }];
    expect(editsOf(complete({ fileEdits, result: both }))).toEqual([
      { path, ...lines },
      { path: "src/b.ts", ...lines },
    ]);
  });

  it("has the edits of the file that an older version was asked to change, and none from a diff that a command printed", () => {
    const done = complete({ result: { content: "Updated.", detailedContent: diffOf(path) } });
    expect(editsOf(answer([request("edit", { path: "a.ts" })]), done)).toEqual([{ path: "a.ts", ...lines }]);
    expect(editsOf(answer([request("bash", { command: "git diff" })]), done)).toEqual([]);
  });

  it("of a new file begins with its first line", () => {
    const detailedContent = `\ndiff --git a${path} b${path}\ncreate file mode 100644\n--- a/dev/null\n+++ b${path}\n@@ -1,0 +1,2 @@\n+one\n+two\n`;
    const edits = editsOf(complete({ fileEdits: [{ path }], result: { detailedContent } }));
    expect(edits).toEqual([{ path, startLine: 1, endLine: 2, added: 2, removed: 0 }]);
  });

  it("tells how it ended", () => {
    const ended = (data: object) => ofType(read(complete(data)), "tool-result")[0];
    expect(ended({ shellExecution: { exitCode: 1 }, result: { content: "no" } })).toMatchObject({
      isError: true,
      exitCode: 1,
    });
    expect(ended({ result: { content: "no\n<exited with exit code 2>" } })).toMatchObject({
      isError: true,
      exitCode: 2,
    });
    expect(ended({ success: false, error: { message: "denied" } })).toMatchObject({ isError: true, output: "denied" });
  });

  it("names commits", () => {
    const sha = "0123456789abcdef0123456789abcdef01234567";
    const asked = answer([request("bash", { command: "git commit -qam x && git rev-parse HEAD" })]);
    const result = { content: `${sha}\n<shellId: 2 completed with exit code 0>` };
    const [read1] = ofType(read(asked, complete({ result, shellExecution: { exitCode: 0 } })), "tool-result");
    expect(read1?.commits).toEqual([sha]);
  });
});

it("counts events of Copilot CLI of unknown kinds, and skips what is long and known", () => {
  const kinds = [event("dream", {}), { type: "user.message" }, { id: "x" }, "{"];
  expect(read(...kinds)).toEqual(
    ["dream", "user.message", "unreadable", "unreadable"].map((kind) => ({ type: "unknown", kind })),
  );
  // The third holds an image.
  const names = ["system.message", "hook.start", "session.binary_asset", "tool.execution_start"];
  const silent = names.map((name) => event(name, {}));
  expect(read(...silent)).toEqual([]);
  expect(silent.filter((record) => !copilotCli.skips?.(JSON.stringify(record)))).toEqual([]);
});
