import { describe, expect, it } from "vitest";
import { geminiCli } from "../../../../src/formats/agents/gemini-cli.ts";
import { eventsOf, ofType } from "./reading.ts";

const AT = "2026-05-04T10:00:00.000Z";
const own = (key: string) => ({ key, sessionId: "s1", at: AT });
const header = { sessionId: "s1", projectHash: "x", startTime: AT, lastUpdated: AT, kind: "main" };
const user = (content: unknown) => ({ id: "u1", timestamp: AT, type: "user", content });
const tokens = { input: 500, output: 30, cached: 300, thoughts: 10, tool: 0, total: 540 };
const answer = (more: object = {}) => ({
  ...{ id: "m1", timestamp: AT, type: "gemini", content: "I lower prices.", thoughts: [{ subject: "Hm" }] },
  ...{ tokens, model: "gemini-2.5-pro", ...more },
});
const call = (more: object = {}) => ({
  ...{ id: "t1", name: "run_shell_command", args: { command: "ls" }, status: "success", timestamp: AT, ...more },
});
const response = (output: string) => [{ functionResponse: { id: "t1", name: "x", response: { output } } }];
const read = (...records: unknown[]) => eventsOf(geminiCli, records, "shop/chats/session-2026-05-04T10-00-s1.jsonl");
const resultOf = (toolCall: object) => ofType(read(header, answer({ toolCalls: [toolCall] })), "tool-result")[0];

const said = { type: "session", sessionId: "s1", at: AT, model: "gemini-2.5-pro" };
const replied = { type: "reply", ...own("m1:text"), callId: "m1", model: "gemini-2.5-pro", text: "I lower prices." };
const used = {
  ...{ type: "usage", ...own("m1:usage"), callId: "m1", model: "gemini-2.5-pro" },
  usage: {
    ...{ id: "m1", input_tokens: 200, output_tokens: 40 },
    ...{ cache_creation_input_tokens: 0, cache_read_input_tokens: 300 },
  },
};

describe("a session of Gemini CLI", () => {
  it("is read into what was asked, answered, used, called and given back, the same each time a record is repeated", () => {
    const ended = answer({
      toolCalls: [call({ result: response("Output: prices.txt"), resultDisplay: "prices.txt" })],
    });
    const prompt = { type: "prompt", ...own("u1"), text: "Sell more." };
    const called = { ...own("m1:t1"), toolId: "t1" };
    const both = [
      { type: "tool-call", ...called, callId: "m1", name: "run_shell_command", input: { command: "ls" } },
      {
        ...{ type: "tool-result", ...called, key: "m1:t1:result", output: "Output: prices.txt" },
        ...{ isError: false, exitCode: 0, edits: [], commits: [] },
      },
    ];
    expect(
      read(header, user([{ text: "Sell more." }]), answer(), ended, {
        $set: { messages: [user("Sell more."), ended] },
      }),
    ).toEqual([...[prompt, said, replied, used], ...[replied, used, ...both], ...[prompt, replied, used, ...both]]);
  });

  it("may be one document", () => {
    const document = JSON.stringify({ ...header, messages: [user("Sell more."), answer()] });
    const records = geminiCli.recordsOf?.(document) ?? [];
    expect(read(...records).map((event) => event.type)).toEqual(["prompt", "session", "reply", "usage"]);
    for (const other of [JSON.stringify(header), `${JSON.stringify(header)}\n{}`, "[]", "{"])
      expect(geminiCli.recordsOf?.(other)).toBeUndefined();
  });

  it("tells its folder in the text for the model, and its title later", () => {
    const context = "<session_context>\n- **Workspace Directories:**\n  - /home/kim/shop\n- **Directory Structure:**";
    expect(read(header, { $set: { messages: [user([{ text: context }])] } }, { $set: { summary: "Selling" } })).toEqual(
      [
        { type: "session", sessionId: "s1", at: AT, cwd: "/home/kim/shop" },
        { type: "session", sessionId: "s1", at: undefined, title: "Selling" },
      ],
    );
  });

  it("drops messages when it is rewound to before one", () => {
    expect(read(header, { $rewindTo: "u1" })).toEqual([
      { type: "rewind", key: "s1:rewind:u1", sessionId: "s1", from: "u1" },
    ]);
  });

  it("names the session that a sub-agent works for, whose prompts no person typed", () => {
    const events = eventsOf(
      geminiCli,
      [{ ...header, sessionId: "s2" }, user("Find it."), answer()],
      "shop/chats/s1/s2.jsonl",
    );
    expect(events.map((event) => event.type)).toEqual(["session", "session", "reply", "usage"]);
    expect(events[0]).toMatchObject({ sessionId: "s2", parentId: "s1" });
  });
});

describe("a prompt of Gemini CLI", () => {
  it.each<[string, unknown]>([
    ["its context", [{ text: "<session_context>x</session_context>" }]],
    ["a tool's result", [{ functionResponse: { id: "t1" } }]],
    ["what goes on by itself", "System: Please continue."],
    ["what a compression left", "<state_snapshot>"],
    ["a command", "/help me"],
  ])("is not %s", (_, content) => {
    expect(read(header, user(content))).toEqual([]);
  });

  it.each<[string, unknown, string]>([
    [
      "beside what a hook added",
      [{ text: "Sell more." }, { text: "<hook_context>Be kind.</hook_context>" }],
      "Sell more.",
    ],
    ["before what a hook added", "Sell more.\n\n<hook_context>Be kind.</hook_context>", "Sell more."],
    ["behind what a hook added", "<hook_context>&gt; Be\nkind.</hook_context>\n\nSell more.", "Sell more."],
    ["behind it, in parts", [{ text: "<hook_context>Be kind.</hook_context>\n\nSell more." }], "Sell more."],
    [
      "with a picture",
      [{ text: "Like this?" }, { inlineData: { mimeType: "image/png", data: "x" } }],
      "Like this?\n[image]",
    ],
    ["that begins with a path", "/home/kim/a.ts is wrong", "/home/kim/a.ts is wrong"],
  ])("is what was typed %s", (_, content, text) => {
    expect(ofType(read(header, user(content)), "prompt").map((event) => event.text)).toEqual([text]);
  });
});

describe("a tool's result of Gemini CLI", () => {
  it("has the edits of its diff, but nothing of the files before and after", () => {
    const fileDiff =
      "Index: a.ts\n===\n--- a.ts\tCurrent\n+++ a.ts\tProposed\n@@ -1,3 +1,4 @@\n one\n-two\n+zwei\n+zwo\n three\n";
    const resultDisplay = {
      fileDiff,
      filePath: "/home/kim/shop/a.ts",
      originalContent: "SECRET",
      newContent: "SECRET",
    };
    const result = resultOf(call({ name: "replace", args: { file_path: "a.ts" }, resultDisplay }));
    expect(result?.edits).toEqual([{ path: "/home/kim/shop/a.ts", startLine: 2, endLine: 3, added: 2, removed: 1 }]);
    expect(JSON.stringify(result)).not.toContain("SECRET");
  });

  it("is a whole file if an older version does not say what it replaced", () => {
    const written = call({ name: "write_file", args: { file_path: "a.ts", content: "one\ntwo" } });
    expect(resultOf(written)?.edits).toEqual([{ path: "a.ts", startLine: 1, endLine: 2 }]);
    expect(resultOf({ ...written, status: "error" })?.edits).toEqual([]);
  });

  it.each<[string, string, number | undefined, boolean]>([
    ["success", "Command: x\nOutput: (empty)\nExit Code: 0\nSignal: 0", 0, false],
    ["success", "<untrusted_context>\nOutput: no\nExit Code: 2\n</untrusted_context>", 2, true],
    ["success", "<untrusted_context>\nOutput: yes\nProcess Group PGID: 50\n</untrusted_context>", 0, false],
    ["success", "Command injection detected: command substitution syntax", undefined, true],
    ["success", "Output: Command injection detected", 0, false],
    ["cancelled", "[Operation Cancelled]", undefined, true],
  ])("that is a %s and says %j has its exit code", (status, text, exitCode, isError) => {
    expect(resultOf(call({ status, result: response(text) }))).toMatchObject({ output: text, exitCode, isError });
  });

  it("names commits as they are shown", () => {
    const sha = "0123456789abcdef0123456789abcdef01234567";
    const args = { command: "git commit -qam x && git rev-parse HEAD" };
    const result = response(`<untrusted_context>\nOutput: ${sha}\nProcess Group PGID: 50`);
    expect(resultOf(call({ args, result, resultDisplay: sha }))?.commits).toEqual([sha]);
  });
});

it("counts messages of Gemini CLI whose kind it does not know, and skips what says when it was written", () => {
  const kinds = [{ id: "x", type: "dream" }, { type: "user" }, { id: "x" }, "{"];
  expect(read(...kinds)).toEqual(
    ["dream", "user", "unreadable", "unreadable"].map((kind) => ({ type: "unknown", kind })),
  );
  const silent = [{ $set: { lastUpdated: AT } }, { id: "i", type: "info", content: "Update!" }];
  expect(read(...silent)).toEqual([]);
  expect(geminiCli.skips?.(JSON.stringify(silent[0]))).toBe(true);
  expect(geminiCli.skips?.(JSON.stringify({ $set: { lastUpdated: AT, summary: "x" } }))).toBe(false);
});
