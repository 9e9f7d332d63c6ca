import { describe, expect, it } from "vitest";
import { claudeCode } from "../../../../src/formats/agents/claude-code.ts";
import { eventsOf, ofType } from "./reading.ts";

const AT = "2026-05-04T10:00:00.000Z";
const common = { sessionId: "s1", timestamp: AT, cwd: "/home/kim/shop", gitBranch: "main", version: "2.1.0" };
const user = (content: unknown, more: object = {}) => ({
  ...common,
  type: "user",
  uuid: "u1",
  message: { role: "user", content },
  ...more,
});
const answer = (uuid: string, content: unknown[], output = 9, more: object = {}) => ({
  ...common,
  type: "assistant",
  uuid,
  requestId: "req_1",
  message: {
    id: "msg_1",
    model: "claude-opus-5",
    content,
    usage: { input_tokens: 3, output_tokens: output, cache_creation_input_tokens: 20, cache_read_input_tokens: 400 },
    ...more,
  },
});
const command = (id: string, text: string) =>
  answer(id, [{ type: "tool_use", id, name: "Bash", input: { command: text } }]);
const result = (id: string, content: unknown, more: object = {}) => ({
  ...user([{ type: "tool_result", tool_use_id: id, content, is_error: false }], more),
  uuid: `result of ${id}`,
});
const events = (...records: unknown[]) => eventsOf(claudeCode, records, "-home-kim-shop/s1.jsonl");

describe("a session of Claude Code", () => {
  it("is read into what was asked, answered, called and given back", () => {
    const read = events(
      user("Sell more."),
      answer("a1", [{ type: "thinking", thinking: "Hm, how?" }], 1),
      answer("a2", [{ type: "text", text: "I lower prices." }]),
      answer("a3", [{ type: "tool_use", id: "t1", name: "Edit", input: { file_path: "prices.txt" } }]),
    );
    const own = { sessionId: "s1", at: AT };
    const used = { input_tokens: 3, cache_creation_input_tokens: 20, cache_read_input_tokens: 400 };
    const told = (key: string, output_tokens: number) => ({
      ...{ type: "usage", key, ...own, callId: "msg_1", model: "claude-opus-5" },
      usage: { id: "msg_1", requestId: "req_1", ...used, output_tokens },
    });
    expect(read).toEqual([
      { type: "session", ...own, cwd: "/home/kim/shop", branch: "main", agentVersion: "2.1.0" },
      { type: "prompt", key: "u1", ...own, text: "Sell more." },
      { type: "session", ...own, model: "claude-opus-5" },
      told("a1:usage", 1),
      { type: "reply", key: "a2:0", ...own, callId: "msg_1", model: "claude-opus-5", text: "I lower prices." },
      told("a2:usage", 9),
      {
        ...{ type: "tool-call", key: "a3:0", ...own, callId: "msg_1", toolId: "t1", name: "Edit" },
        input: { file_path: "prices.txt" },
      },
      told("a3:usage", 9),
    ]);
  });

  it("counts cache writes for an hour separately", () => {
    const usage = {
      ...{ input_tokens: 1, output_tokens: 2, cache_creation_input_tokens: 30, cache_read_input_tokens: 0 },
      cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
    };
    expect(ofType(events(answer("a1", [], 2, { usage })), "usage")[0]?.usage).toEqual({
      ...{ id: "msg_1", requestId: "req_1", ...usage },
    });
  });

  it("repeats only facts about itself that have changed", () => {
    const moved = { ...answer("a2", []), cwd: "/home/kim/shop/web", gitBranch: "sale" };
    expect(ofType(events(user("One"), user("Two"), moved, moved), "session")).toEqual([
      { type: "session", sessionId: "s1", at: AT, cwd: "/home/kim/shop", branch: "main", agentVersion: "2.1.0" },
      {
        ...{ type: "session", sessionId: "s1", at: AT },
        ...{ cwd: "/home/kim/shop/web", branch: "sale", model: "claude-opus-5" },
      },
    ]);
    const titled = { type: "ai-title", aiTitle: `Selling${"!".repeat(2000)}`, sessionId: "s1" };
    expect(events(titled, titled)).toEqual([
      { type: "session", sessionId: "s1", at: undefined, title: `Selling${"!".repeat(1017)}` },
    ]);
  });

  it("gives its events the same keys in a fork, which copies the records into another session", () => {
    const records = [user("Sell more."), answer("a1", [{ type: "text", text: "Yes." }])];
    const copies = records.map((record) => ({
      ...record,
      sessionId: "s2",
      forkedFrom: { sessionId: "s1", messageUuid: record.uuid },
    }));
    const keys = (all: ReturnType<typeof events>) => all.flatMap((event) => ("key" in event ? [event.key] : []));
    const fork = eventsOf(claudeCode, copies, "-home-kim-shop/s2.jsonl");
    expect(keys(fork)).toEqual(keys(events(...records)));
    expect(ofType(fork, "usage")[0]?.usage.id).toBe("msg_1");
    expect(ofType(fork, "session")[0]).toMatchObject({ sessionId: "s2", parentId: "s1" });
    const headless = copies.map(({ forkedFrom: _, ...record }) => ({ ...record, requestSessionId: "s1" }));
    expect(ofType(eventsOf(claudeCode, headless, "p/s2.jsonl"), "session")[0]).toMatchObject({ parentId: "s1" });
    const own = records.map((record) => ({ ...record, requestSessionId: "s1" }));
    expect(ofType(events(...own), "session")[0]?.parentId).toBeUndefined();
  });

  it("counts what its sub-agents use, in its name, wherever they wrote it", () => {
    const side = { ...answer("a1", [{ type: "text", text: "Found." }]), isSidechain: true, agentId: "x" };
    const read = eventsOf(
      claudeCode,
      [{ ...user("Find it."), isSidechain: true }, side],
      "p/s1/subagents/agent-x.jsonl",
    );
    expect(read.map((event) => event.type)).toEqual(["reply", "usage"]);
    expect(read[1]).toMatchObject({ sessionId: "s1", usage: { id: "msg_1" } });
    const { message, requestId } = side;
    const told = {
      ...common,
      type: "progress",
      uuid: "p1",
      data: { type: "agent_progress", message: { message, requestId } },
    };
    expect(events(told)).toMatchObject([{ type: "usage", key: "p1:usage", usage: { id: "msg_1", output_tokens: 9 } }]);
  });

  it("knows the edits of its sub-agents, whose result records hold nothing but words", () => {
    const call = (id: string, name: string, input: object) => ({
      ...answer(id, [{ type: "tool_use", id, name, input: { file_path: `/home/kim/shop/${id}.ts`, ...input } }]),
      isSidechain: true,
    });
    const done = (id: string, content: string, is_error = false) => ({
      ...user([{ type: "tool_result", tool_use_id: id, content, is_error }], { isSidechain: true }),
      uuid: `result of ${id}`,
    });
    const text = { content: "one\ntwo\n" };
    const read = events(
      ...[call("new", "Write", text), call("old", "Write", text), call("part", "Edit", { old_string: "a" })],
      ...[call("refused", "Edit", { old_string: "b" }), call("seen", "Read", {})],
      ...[
        done("part", "The file has been updated."),
        done("new", "File created successfully at: /home/kim/shop/new.ts"),
      ],
      ...[done("old", "The file has been updated."), done("refused", "String not found.", true), done("seen", "one")],
      done("part", "Told again."),
    );
    const path = (id: string) => `/home/kim/shop/${id}.ts`;
    expect(ofType(read, "tool-result").map(({ edits }) => edits)).toEqual([
      [{ path: path("part") }],
      [{ path: path("new"), startLine: 1, endLine: 2, added: 2, removed: 0 }],
      [{ path: path("old"), startLine: 1, endLine: 2 }],
      ...[[], [], []],
    ]);
  });

  it("keeps calls apart that a gateway gave the same id, but not the records of one call", () => {
    const call = (uuid: string, timestamp: string) => ({ ...answer(uuid, [], 9, { id: "chatcmpl-1" }), timestamp });
    const ids = (...records: unknown[]) => ofType(events(...records), "usage").map(({ usage }) => usage.id);
    expect(ids(call("a1", "2026-05-04T10:00:00Z"), call("a2", "2026-05-04T10:00:01Z"))).toEqual([
      "chatcmpl-1@2026-05-04T10:00:00Z",
      "chatcmpl-1@2026-05-04T10:00:00Z",
    ]);
    expect(ids(call("b1", "2026-05-05T08:00:00Z"))).toEqual(["chatcmpl-1@2026-05-05T08:00:00Z"]);
  });
});

describe("a prompt of Claude Code", () => {
  it.each<[string, unknown, object?]>([
    ["a note of the client's", "Caveat: The messages below were generated by the user while running local commands."],
    ["a command", "<command-name>/clear</command-name>"],
    ["what a command printed", "<local-command-stdout>Done.</local-command-stdout>"],
    ["a shell command and its output", "<bash-input>ls</bash-input>"],
    ["an interruption", [{ type: "text", text: "[Request interrupted by user for tool use]" }]],
    [
      "a background task that ended",
      "<task-notification>done</task-notification>",
      { origin: { kind: "task-notification" } },
    ],
    ["another agent's message", "Look at this", { origin: { kind: "peer" } }],
    ["what the client adds", "Base directory for this skill", { isMeta: true }],
    ["the summary of a compacted session", "This session is being continued", { isCompactSummary: true }],
    ["what a sub-agent is told", "Find it.", { isSidechain: true }],
    ["the system's", "Go on.", { promptSource: "system" }],
  ])("is not %s", (_, content, more = {}) => {
    expect(ofType(events(user(content, more)), "prompt")).toEqual([]);
  });

  it("is what was typed beside what an editor added, pictures by name", () => {
    const read = events(
      user([
        { type: "text", text: "<ide_opened_file>The user opened a.ts</ide_opened_file>" },
        { type: "text", text: "Like this?" },
        { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } },
      ]),
    );
    expect(ofType(read, "prompt").map(({ text }) => text)).toEqual(["Like this?\n[image]"]);
  });

  it("may be typed while the agent works", () => {
    const queued = (attachment: object) => ({ ...common, type: "attachment", uuid: "q1", attachment });
    const typed = { type: "queued_command", prompt: "And tests.", commandMode: "prompt", origin: { kind: "human" } };
    expect(events(queued(typed))).toEqual([{ type: "prompt", key: "q1", sessionId: "s1", at: AT, text: "And tests." }]);
    expect(events(queued({ ...typed, commandMode: "task-notification" }))).toEqual([]);
  });
});

describe("a tool's result of Claude Code", () => {
  const patched = (structuredPatch: unknown, more: object = {}) =>
    ofType(
      events(
        result("t1", "The file has been updated.", {
          toolUseResult: {
            filePath: "/home/kim/shop/a.ts",
            originalFile: "SECRET OF BEFORE",
            structuredPatch,
            ...more,
          },
        }),
      ),
      "tool-result",
    )[0];

  it("has an edit for each run of changed lines, numbered as the file stands after it", () => {
    const lines = [" one", "-two", "+zwei", "+zwo", " three", " four", "-five", " six", "\\ No newline at end of file"];
    const read = patched([
      { oldStart: 1, oldLines: 6, newStart: 1, newLines: 6, lines },
      { oldStart: 21, oldLines: 1, newStart: 21, newLines: 2, lines: [" z", "+end"] },
    ]);
    const path = "/home/kim/shop/a.ts";
    expect(read?.edits).toEqual([
      { path, startLine: 2, endLine: 3, added: 2, removed: 1 },
      { path, startLine: 6, endLine: 5, added: 0, removed: 1 },
      { path, startLine: 22, endLine: 22, added: 1, removed: 0 },
    ]);
    expect(JSON.stringify(read)).not.toContain("SECRET OF BEFORE");
  });

  it("that leaves a file empty removed everything from its first line on", () => {
    const read = patched([{ oldStart: 1, oldLines: 2, newStart: 1, newLines: 0, lines: ["-a", "-b"] }]);
    expect(read?.edits).toMatchObject([{ startLine: 1, endLine: 0, added: 0, removed: 2 }]);
  });

  it("has only the edits of its own record, which holds the results of several tools", () => {
    const blocks = ["t1", "t2"].map((id) => ({ type: "tool_result", tool_use_id: id, content: "Done." }));
    const toolUseResult = { filePath: "/home/kim/shop/a.ts", type: "create", content: "a\n" };
    const read = ofType(events(user(blocks, { toolUseResult })), "tool-result");
    expect(read.map(({ toolId, edits }) => [toolId, edits.length])).toEqual([
      ["t1", 1],
      ["t2", 0],
    ]);
  });

  it("is a whole file where it is new, and no edit where nothing changed", () => {
    expect(patched([], { type: "create", content: "a\nb\n" })?.edits).toMatchObject([
      { startLine: 1, endLine: 2, added: 2, removed: 0 },
    ]);
    expect(patched([], { type: "update", content: "a\nb\n" })?.edits).toEqual([]);
  });

  it("tells how a command ended, as far as that is known", () => {
    const ended = (content: unknown, detail: unknown, is_error = false) => {
      const blocks = [{ type: "tool_result", tool_use_id: "t1", content, is_error }];
      const [read] = ofType(events(user(blocks, { toolUseResult: detail })), "tool-result");
      return [read?.output, read?.isError, read?.exitCode];
    };
    const done = { stdout: "3 passed", stderr: "", interrupted: false };
    expect(ended("3 passed", done)).toEqual(["3 passed", false, 0]);
    expect(ended("Exit code 2\nno such file", "Error: Exit code 2\nno such file", true)).toEqual([
      "Exit code 2\nno such file",
      true,
      2,
    ]);
    expect(ended("started", { ...done, backgroundTaskId: "b1" })).toEqual(["started", false, undefined]);
    expect(ended([{ type: "image", source: { data: "iVBORw0KGgo=" } }], {})).toEqual(["[image]", false, undefined]);
  });

  it("names commits in git's words, or by an id that was asked for after the commit", () => {
    const sha = "0123456789abcdef0123456789abcdef01234567";
    const commits = (...records: unknown[]) => ofType(events(...records), "tool-result").map((read) => read.commits);
    expect(commits(command("t1", "git commit -m x"), result("t1", "[main 1a2b3c4] Sell\n 1 file changed"))).toEqual([
      ["1a2b3c4"],
    ]);
    expect(commits(result("t1", "[detached HEAD (root-commit) 1a2b3c4d] Sell"))).toEqual([["1a2b3c4d"]]);
    expect(
      commits(command("t1", "git -C shop -c a=b commit -qm x && git rev-parse HEAD"), result("t1", `${sha}\n`)),
    ).toEqual([[sha]]);
    expect(
      commits(
        command("t1", "git commit -qm x"),
        result("t1", ""),
        command("t2", "git rev-parse HEAD"),
        result("t2", sha),
      ),
    ).toEqual([[], [sha]]);
    const between = [command("t2", "make release"), result("t2", "")];
    expect(
      commits(
        ...[command("t1", "git commit -qm x"), result("t1", ""), ...between],
        ...[command("t3", "git rev-parse HEAD"), result("t3", sha)],
      ),
    ).toEqual([[], [], []]);
    expect(commits(command("t1", "git commit -qm x && git rev-parse HEAD main"), result("t1", sha))).toEqual([[]]);
    expect(commits(command("t1", "git log --grep commit; git rev-parse HEAD"), result("t1", sha))).toEqual([[]]);
    expect(commits(command("t1", "git commit -qm x; git rev-parse HEAD~1"), result("t1", sha))).toEqual([[]]);
    expect(
      commits(
        command("t1", "git commit -m x && git rev-parse HEAD"),
        result("t1", `[main ${sha.slice(0, 7)}] x\n${sha}`),
      ),
    ).toEqual([[sha]]);
  });
});

describe("records of Claude Code without information", () => {
  const silent = [
    { type: "file-history-snapshot", messageId: "m", snapshot: {} },
    { type: "api-request-shape", sessionId: "s1", shape: { system: "SYSTEM PROMPT" } },
    { type: "summary", summary: "Another session", leafUuid: "x" },
    { type: "relocated", sessionId: "s1", relocatedCwd: "/home/kim/shop/.claude/worktrees/side" },
    {
      parentUuid: null,
      isSidechain: false,
      attachment: { type: "prompt_snapshot", systemPrompt: ["x"] },
      type: "attachment",
    },
    { parentUuid: "x", isSidechain: false, cwd: "C:\\shop", type: "progress", data: { type: "bash_progress" } },
    { parentUuid: "x", type: "system", subtype: "turn_duration" },
  ];
  it("give no event and need not be parsed", () => {
    expect(events(...silent)).toEqual([]);
    expect(silent.filter((record) => !claudeCode.skips?.(JSON.stringify(record).slice(0, 256)))).toEqual([]);
  });

  it("are not those of which something is known", () => {
    const telling = [
      user("<x"),
      answer("a", []),
      { parentUuid: null, attachment: { type: "queued_command" }, type: "attachment" },
      { parentUuid: null, type: "progress", data: { type: "agent_progress" } },
      { type: "ai-title" },
    ];
    expect(telling.filter((record) => claudeCode.skips?.(JSON.stringify(record)))).toEqual([]);
  });

  it("are counted when their kind is not known", () => {
    expect(events({ type: "dream" }, { no: "type" }, '"text"', "{", "")).toEqual(
      ["dream", "unreadable", "unreadable", "unreadable", "unreadable"].map((kind) => ({ type: "unknown", kind })),
    );
  });

  it("and the client's own words count as nobody's reply", () => {
    const error = answer("a1", [{ type: "text", text: "API Error: 529" }], 0, { model: "<synthetic>" });
    expect(ofType(events(error), "reply")).toEqual([]);
  });
});
