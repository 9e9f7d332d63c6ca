import { describe, expect, it } from "vitest";
import { codex } from "../../../../src/formats/agents/codex.ts";
import { eventsOf, ofType } from "./reading.ts";

const AT = "2026-05-04T10:00:00.000Z";
const ID = "019ed50c-2fb3-7002-a384-360bea6e7f04";
const PATH = `2026/05/04/rollout-2026-05-04T10-00-00-${ID}.jsonl`;

/** Records as new versions write them, each with its ordinal. Older versions write none. */
const numbered = (...records: [type: string, payload: object][]) =>
  records.map(([type, payload], ordinal) => ({ timestamp: AT, ordinal, type, payload }));
const unnumbered = (...records: [type: string, payload: object][]) =>
  records.map(([type, payload]) => ({ timestamp: AT, type, payload }));
const read = (records: readonly unknown[]) => eventsOf(codex, records, PATH);

const meta = (more: object = {}): [string, object] => [
  "session_meta",
  { id: ID, cwd: "/home/kim/shop", cli_version: "0.169.0", git: { branch: "main", commit_hash: "4e480f90" }, ...more },
];
const turn: [string, object] = ["turn_context", { model: "gpt-5.5", cwd: "/home/kim/shop" }];
const item = (value: object): [string, object] => ["event_msg", { type: "item_completed", item: value }];
const asked = (text: string) => item({ type: "UserMessage", id: "x", content: [{ type: "text", text }] });
const typed = (message: string): [string, object] => ["event_msg", { type: "user_message", message }];
const said = (text: string): [string, object] => [
  "response_item",
  { type: "message", role: "assistant", content: [{ type: "output_text", text }] },
];
const exec = (call_id: string, cmd: string): [string, object] => [
  "response_item",
  { type: "function_call", name: "exec_command", arguments: JSON.stringify({ cmd }), call_id },
];
const output = (call_id: string, text: unknown): [string, object] => [
  "response_item",
  { type: "function_call_output", call_id, output: text },
];
const usage = (input_tokens: number, cached_input_tokens: number, output_tokens: number) => ({
  ...{ input_tokens, cached_input_tokens, output_tokens, total_tokens: input_tokens + output_tokens },
});
const count = (total: object, last: object = total): [string, object] => [
  "event_msg",
  { type: "token_count", info: { total_token_usage: total, last_token_usage: last } },
];

describe("a session of Codex", () => {
  it("is read into what was asked, answered, called, given back and used", () => {
    const records = numbered(
      meta({ base_instructions: { text: "SYSTEM PROMPT" } }),
      turn,
      asked("Sell more."),
      said("I lower prices."),
      exec("c1", "sed -i s/2/1/ prices.txt"),
      [
        "token_usage_record",
        { response_id: "resp_1", usage: { ...usage(500, 300, 40), cache_write_input_tokens: 50 } },
      ],
      output("c1", "Chunk ID: 1a\nWall time: 0.1 seconds\nProcess exited with code 1\nOutput:\nno such file"),
      count(usage(500, 300, 40)),
    );
    const own = (ordinal: number) => ({ key: `${ID}#${ordinal}`, sessionId: ID, at: AT });
    const callId = `${ID}:call-1`;
    const used = {
      input_tokens: 150,
      output_tokens: 40,
      cache_creation_input_tokens: 50,
      cache_read_input_tokens: 300,
    };
    expect(read(records)).toEqual([
      {
        ...{ type: "session", sessionId: ID, at: AT, cwd: "/home/kim/shop", branch: "main", head: "4e480f90" },
        agentVersion: "0.169.0",
      },
      { type: "session", sessionId: ID, at: AT, model: "gpt-5.5" },
      { type: "prompt", ...own(2), text: "Sell more." },
      { type: "reply", ...own(3), callId, model: "gpt-5.5", text: "I lower prices." },
      {
        ...{ type: "tool-call", ...own(4), callId, toolId: "c1", name: "exec_command" },
        input: { cmd: "sed -i s/2/1/ prices.txt" },
      },
      { type: "usage", ...own(5), callId, model: "gpt-5.5", usage: { id: "resp_1", ...used } },
      {
        ...{ type: "tool-result", ...own(6), toolId: "c1", isError: true, exitCode: 1, edits: [], commits: [] },
        output: "Chunk ID: 1a\nWall time: 0.1 seconds\nProcess exited with code 1\nOutput:\nno such file",
      },
    ]);
  });

  it("counts the growth of its running total as usage, each growth once", () => {
    const records = unnumbered(
      meta(),
      turn,
      typed("Sell more."),
      said("One."),
      count(usage(100, 60, 5)),
      count(usage(100, 60, 5)),
      said("Two."),
      count(usage(300, 200, 15), usage(150, 100, 7)),
      said("Three, after the total began anew."),
      count(usage(120, 0, 9), usage(110, 0, 8)),
    );
    const events = read(records);
    expect(
      ofType(events, "usage").map(({ usage: used }) => [
        used.input_tokens,
        used.cache_read_input_tokens,
        used.output_tokens,
      ]),
    ).toEqual([
      [40, 60, 5],
      [60, 140, 10],
      [110, 0, 8],
    ]);
    const calls = ofType(events, "usage").map((event) => event.callId);
    expect(new Set(calls).size).toBe(3);
    expect(ofType(events, "reply").map((event) => event.callId)).toEqual(calls);
    // The first total may include the usage of a session that this one continues.
    const [first] = ofType(read(unnumbered(meta(), count(usage(900, 0, 90), usage(100, 60, 5)))), "usage");
    expect(first?.usage).toMatchObject({ input_tokens: 40, cache_read_input_tokens: 60, output_tokens: 5 });
  });

  it("that is resumed by a version with usage records no longer counts its totals", () => {
    const records = [
      ...unnumbered(meta(), count(usage(100, 60, 5))),
      ...numbered(["token_usage_record", { response_id: "resp_2", usage: usage(50, 0, 5) }], count(usage(150, 60, 10))),
    ];
    expect(ofType(read(records), "usage").map((event) => event.usage.output_tokens)).toEqual([5, 5]);
  });

  it("gives records that a fork copies the same keys and ids as in the original", () => {
    const other = "019ed50c-2fb3-7002-a384-000000000000";
    const shared: [string, object][] = [typed("Sell more."), said("Yes."), count(usage(100, 60, 5))];
    const events = read(unnumbered(meta(), ...shared, typed("Go on."), count(usage(180, 100, 9))));
    const copied = unnumbered(
      meta({ id: other, forked_from_id: ID }),
      meta(),
      ...shared,
      typed("Stop."),
      count(usage(170, 100, 9)),
    );
    const fork = eventsOf(codex, copied, `rollout-${other}.jsonl`);
    const keys = (all: typeof events) => all.flatMap((event) => ("key" in event ? [event.key] : []));
    expect(ofType(fork, "session")).toMatchObject([{ sessionId: other, parentId: ID }]);
    expect(new Set(fork.map((event) => "sessionId" in event && event.sessionId))).toEqual(new Set([other]));
    expect(keys(fork).slice(0, 3)).toEqual(keys(events).slice(0, 3));
    expect(keys(events)).not.toContain(keys(fork)[3]);
    const used = [...ofType(events, "usage"), ...ofType(fork, "usage")].map((event) => event.usage.id);
    expect([used.length, new Set(used).size]).toEqual([4, 3]);
  });

  it("gives a question asked twice two keys, also when the session states its id again", () => {
    const keys = ofType(read(unnumbered(meta(), typed("Go on."), meta(), typed("Go on."))), "prompt").map(
      ({ key }) => key,
    );
    expect([keys.length, new Set(keys).size]).toEqual([2, 2]);
  });

  it("names the session that it is a sub-agent of, and has no prompts then", () => {
    const source = { subagent: { thread_spawn: { parent_thread_id: "p1", depth: 1 } } };
    const events = read(numbered(meta({ source }), asked("Find it.")));
    expect(events).toMatchObject([{ type: "session", parentId: "p1" }]);
  });

  it("drops prompts that were taken back", () => {
    const back: [string, object] = ["event_msg", { type: "thread_rolled_back", num_turns: 2 }];
    const events = read(numbered(meta(), asked("One"), asked("Two"), asked("Three"), back, asked("Four"), back));
    expect(ofType(events, "rewind").map((event) => event.from)).toEqual([`${ID}#2`, `${ID}#1`]);
  });
});

describe("a prompt of Codex", () => {
  it.each([
    "<environment_context>\n<cwd>/x</cwd>\n</environment_context>",
    "# AGENTS.md instructions for /home/kim/shop\n\n<INSTRUCTIONS>",
    "<user_instructions>Be kind.</user_instructions>",
    "<turn_aborted>",
  ])("is not %j", (text) => {
    const message = { type: "message", role: "user", content: [{ type: "input_text", text }] };
    expect(read(unnumbered(meta(), ["response_item", message], typed(text))).slice(1)).toEqual([]);
  });

  it("is the text below what an editor adds about itself", () => {
    const text = "# Context from my IDE setup:\n\n## Active file: a.ts\n\n## My request for Codex:\nSell more.\n";
    expect(ofType(read(unnumbered(typed(text))), "prompt").map((event) => event.text)).toEqual(["Sell more."]);
  });

  it("ends a model call that was cut off", () => {
    const events = read(unnumbered(typed("One"), said("I beg"), typed("Stop"), said("Done")));
    expect(ofType(events, "reply").map((event) => event.callId)).toEqual([`${ID}:call-1`, `${ID}:call-2`]);
  });
});

describe("a tool's result of Codex", () => {
  const changes = {
    "/home/kim/shop/new.ts": { type: "add", content: "a\nb\n" },
    "/home/kim/shop/old.ts": { type: "delete", content: "a\nb\nc" },
    "/home/kim/shop/a.ts": {
      ...{ type: "update", move_path: "/home/kim/shop/b.ts" },
      unified_diff: "@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n@@ -9,2 +9,3 @@\n nine\n+and a half\n ten\n",
    },
  };
  const edits = [
    { path: "/home/kim/shop/new.ts", startLine: 1, endLine: 2, added: 2, removed: 0 },
    { path: "/home/kim/shop/old.ts", startLine: 1, endLine: 0, added: 0, removed: 3 },
    { path: "/home/kim/shop/b.ts", startLine: 2, endLine: 2, added: 1, removed: 1 },
    { path: "/home/kim/shop/b.ts", startLine: 10, endLine: 10, added: 1, removed: 0 },
  ];

  it("has the edits of an applied patch, reported in either way", () => {
    const results = (...records: [string, object][]) =>
      ofType(read(numbered(...records)), "tool-result").map((event) => [event.toolId, event.isError, event.edits]);
    const told = { type: "FileChange", id: "c1", changes };
    const ended = { type: "patch_apply_end", call_id: "c1", changes };
    expect(results(item({ ...told, status: "completed" }))).toEqual([["c1", false, edits]]);
    expect(results(["event_msg", { ...ended, success: true }])).toEqual([["c1", false, edits]]);
    expect(results(item({ ...told, status: "failed" }))).toEqual([["c1", true, []]]);
    expect(results(["event_msg", { ...ended, success: false }])).toEqual([["c1", true, []]]);
  });

  it.each<[string, unknown, string, number | undefined]>([
    [
      "a patch",
      "Wall time: 0.0 seconds\nOutput:\nExit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.",
      "Wall time",
      0,
    ],
    ["an older shell", '{"output":"[main 1a2b3c4] Sell\\n","metadata":{"exit_code":3}}', "[main", 3],
    [
      "a command that still runs",
      "Chunk ID: 1\nWall time: 1 seconds\nProcess running with session ID 7\nOutput:\n",
      "Chunk",
      undefined,
    ],
    [
      "a tool with pictures",
      [
        { type: "input_text", text: "Look" },
        { type: "input_image", image_url: "data:x" },
      ],
      "Look\n[image]",
      undefined,
    ],
  ])("tells how %s ended", (_, text, begins, exitCode) => {
    const [result] = ofType(read(numbered(output("c1", text))), "tool-result");
    expect(result?.exitCode).toBe(exitCode);
    expect(result?.output?.startsWith(begins)).toBe(true);
    expect(result?.isError).toBe(exitCode === 3);
  });

  it("names commits", () => {
    const sha = "0123456789abcdef0123456789abcdef01234567";
    const head = "Chunk ID: 1\nWall time: 1 seconds\nProcess exited with code 0\nOutput:\n";
    const commits = (...records: [string, object][]) =>
      ofType(read(numbered(...records)), "tool-result").flatMap((event) => event.commits);
    expect(commits(output("c1", `${head}[main 1a2b3c4] Sell`))).toEqual(["1a2b3c4"]);
    expect(commits(exec("c1", "git commit -qam x && git rev-parse HEAD"), output("c1", `${head}${sha}\n`))).toEqual([
      sha,
    ]);
    expect(commits(exec("c1", "git rev-parse HEAD"), output("c1", `${head}${sha}\n`))).toEqual([]);
    const shell = { type: "local_shell_call", call_id: "c1", action: { command: ["git", "commit", "-qm", "x"] } };
    const ask = exec("c2", "git rev-parse HEAD");
    const [made, failed]: [[string, object], string] = [["response_item", shell], head.replace("code 0", "code 1")];
    expect(commits(made, output("c1", head), ask, output("c2", `${head}${sha}`))).toEqual([sha]);
    expect(commits(made, output("c1", failed), ask, output("c2", `${head}${sha}`))).toEqual([]);
    expect(commits(made, output("c1", head), ask, output("c2", `${failed}${sha}`))).toEqual([]);
  });
});

describe("records of Codex", () => {
  it("that say nothing give no event, and the longest need not be parsed", () => {
    const silent = numbered(
      ["world_state", { full: true }],
      ["compacted", { message: "", replacement_history: [] }],
      ["response_item", { type: "reasoning", summary: [], encrypted_content: "x" }],
      ["event_msg", { type: "agent_message", message: "I lower prices." }],
      ["event_msg", { type: "exec_command_end", aggregated_output: "x" }],
    );
    expect(read(silent)).toEqual([]);
    expect(silent.filter((record) => !codex.skips?.(JSON.stringify(record)))).toEqual([]);
  });

  it("of unknown kinds are counted", () => {
    const records = numbered(
      ["dream", {}],
      ["event_msg", { type: "dream" }],
      ["response_item", { type: "dream" }],
      item({ type: "Dream" }),
    );
    const kinds = ["dream", "event_msg/dream", "response_item/dream", "item_completed/Dream", "unreadable"];
    expect(read([...records, "{"])).toEqual(kinds.map((kind) => ({ type: "unknown", kind })));
  });
});
