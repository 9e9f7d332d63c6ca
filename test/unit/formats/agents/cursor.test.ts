import { describe, expect, it } from "vitest";
import { cursor, placeEdits } from "../../../../src/formats/agents/cursor.ts";
import { eventsOf, ofType } from "./reading.ts";

const line = (role: string, ...content: object[]) => ({ role, message: { content } });
const text = (value: string) => ({ type: "text", text: value });
const read = (...records: unknown[]) => eventsOf(cursor, records, "home-kim-shop/agent-transcripts/s1/s1.jsonl");

describe("a session of Cursor", () => {
  it("is read into what was asked, answered and called", () => {
    const call = { type: "tool_use", name: "Shell", input: { command: "ls" } };
    expect(
      read(
        line("user", text("<user_query>\nSell more.\n</user_query>\n<context>x</context>")),
        line("assistant", { type: "thinking", thinking: "Hm" }, text("I lower prices.\n\n[REDACTED]"), call),
        { type: "turn_ended", status: "success" },
      ),
    ).toEqual([
      { type: "prompt", key: "s1#1:0", sessionId: "s1", text: "Sell more." },
      { type: "reply", key: "s1#2:1", sessionId: "s1", callId: "s1#2", text: "I lower prices." },
      {
        ...{ type: "tool-call", key: "s1#2:2", sessionId: "s1", callId: "s1#2", toolId: "s1#2:2", name: "Shell" },
        input: { command: "ls" },
      },
    ]);
  });

  it("may tell what a tool gave back", () => {
    const call = { type: "tool_use", id: "t1", name: "Shell", input: { command: "git commit -m x" } };
    const result = { type: "tool_result", tool_use_id: "t1", content: "[main 1a2b3c4] x", is_error: false };
    const events = read(line("assistant", call), line("user", result));
    expect(ofType(events, "tool-result")).toMatchObject([
      { toolId: "t1", output: "[main 1a2b3c4] x", commits: ["1a2b3c4"] },
    ]);
  });

  it("names the session that a sub-agent works for, whose prompts no person typed", () => {
    const records = [line("user", text("Find it.")), line("assistant", text("Found."))];
    const events = eventsOf(cursor, records, "shop/agent-transcripts/s1/subagents/s2.jsonl");
    expect(events).toMatchObject([
      { type: "session", sessionId: "s2", parentId: "s1" },
      { type: "reply", sessionId: "s2" },
    ]);
  });

  it.each([
    ["Sell more.", ["Sell more."]],
    ["<timestamp>Monday</timestamp>\n<user_query>Sell.</user_query>", ["Sell."]],
    ["<system_reminder>Be kind.</system_reminder>", []],
  ])("has of %j the prompts %j", (typed, prompts) => {
    expect(ofType(read(line("user", text(typed))), "prompt").map((event) => event.text)).toEqual(prompts);
  });
});

describe("a hook of Cursor", () => {
  const payload = (more: object) => ({
    ...{ hook_event_name: "afterFileEdit", conversation_id: "s1", generation_id: "g1", model: "gpt-6" },
    ...{ cursor_version: "3.1", workspace_roots: ["/home/kim/shop"], timestamp: "2026-05-04T10:00:00Z", ...more },
  });
  const edited = (edits: object[]) => payload({ file_path: "/home/kim/shop/a.ts", edits });
  const old = { old_string: "one\ntwo\nthree\n", new_string: "one\nzwei\nzwo\nthree\n" };

  it("reports the session, and an edit once its place is known", () => {
    const record = placeEdits(JSON.stringify(edited([old])), "zero\none\nzwei\nzwo\nthree\n");
    const at = "2026-05-04T10:00:00Z";
    const key = expect.stringMatching(/^g1:[0-9a-f]{16}$/);
    expect(read(record)).toEqual([
      { type: "session", sessionId: "s1", at, cwd: "/home/kim/shop", model: "gpt-6", agentVersion: "3.1" },
      {
        ...{ type: "tool-call", key, sessionId: "s1", at, toolId: key, name: "afterFileEdit" },
        input: { file_path: "/home/kim/shop/a.ts" },
      },
      {
        ...{
          type: "tool-result",
          key: expect.stringMatching(/:result$/),
          sessionId: "s1",
          at,
          toolId: key,
          commits: [],
        },
        edits: [{ path: "/home/kim/shop/a.ts", startLine: 3, endLine: 4, added: 2, removed: 1 }],
      },
    ]);
  });

  it.each<[string, object, string, object[]]>([
    [
      "inside a line",
      { old_string: "b", new_string: "B" },
      "a\naB",
      [{ startLine: 2, endLine: 2, added: 1, removed: 1 }],
    ],
    [
      "of a whole new file",
      { old_string: "", new_string: "a\nb\n" },
      "a\nb\n",
      [{ startLine: 1, endLine: 2, added: 2, removed: 0 }],
    ],
    ["that is there twice", { old_string: "a", new_string: "b" }, "b\nb\n", []],
    ["that is not there", { old_string: "a", new_string: "b" }, "c\n", []],
    ["that changed nothing", { old_string: "a", new_string: "a" }, "a\n", []],
    [
      "with its own range",
      { ...old, range: { start_line_number: 7 } },
      "",
      [{ startLine: 8, endLine: 9, added: 2, removed: 1 }],
    ],
  ])("tells of an edit %s", (_, edit, content, edits) => {
    const [result] = ofType(read(placeEdits(JSON.stringify(edited([edit])), content)), "tool-result");
    expect(result?.edits).toEqual(edits.map((found) => ({ path: "/home/kim/shop/a.ts", ...found })));
  });

  it("reports the end of a session, and only the session from other hooks", () => {
    const ended = read(payload({ hook_event_name: "stop" }), payload({ hook_event_name: "sessionEnd" }));
    expect(ended.map((event) => event.type)).toEqual(["session", "end"]);
    expect(placeEdits("{", "x")).toBe("{");
  });
});

it("counts lines of Cursor of unknown kinds", () => {
  expect(read({ type: "dream" }, { role: "system" }, { hook_event_name: "stop" }, "{")).toEqual(
    ["dream", "unreadable", "stop", "unreadable"].map((kind) => ({ type: "unknown", kind })),
  );
});
