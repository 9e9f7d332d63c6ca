import { describe, expect, it } from "vitest";
import { opencode } from "../../../../src/formats/agents/opencode.ts";
import { eventsOf, ofType } from "./reading.ts";

const MADE = Date.UTC(2026, 4, 4, 10);
const at = (after: number) => new Date(MADE + after).toISOString();
const row = (table: string, data: object, more: object = {}) => ({
  ...{
    table,
    id: `${table}_1`,
    session_id: "ses_1",
    time_created: MADE,
    time_updated: MADE,
    data: JSON.stringify(data),
  },
  ...more,
});
const session = (more: object = {}) => ({
  ...{ table: "session", id: "ses_1", parent_id: null, directory: "/home/kim/shop", title: "New session - 2026-05-04" },
  ...{ version: "1.18.33", model: '{"id":"claude-sonnet-4-5"}', time_created: MADE, time_updated: MADE, ...more },
});
const asked = { role: "user", time: { created: MADE } };
const answered = { role: "assistant", modelID: "claude-sonnet-4-5", time: { created: MADE + 100 } };
const tokens = { input: 101, output: 40, reasoning: 2, cache: { read: 3010, write: 201 } };
const message = (more: object = {}, ids: object = {}) =>
  row(
    "message",
    { ...answered, time: { created: MADE + 100, completed: MADE + 900 }, tokens, cost: 0.002, ...more },
    ids,
  );
const part = (data: object, of: object = answered, more: object = {}) =>
  row("part", data, { message_id: "message_1", message: JSON.stringify(of), ...more });
const tool = (state: object, name = "bash") =>
  part({
    type: "tool",
    tool: name,
    callID: "t1",
    state: { status: "completed", time: { start: MADE + 200, end: MADE + 300 }, ...state },
  });
const read = (...rows: unknown[]) => eventsOf(opencode, rows);
const resultOf = (state: object, name?: string) => ofType(read(tool(state, name)), "tool-result")[0];

describe("a session of opencode", () => {
  const rows = [
    session(),
    part({ type: "text", text: '"Sell \\"more\\" now."' }, asked),
    part({ type: "text", text: "I lower prices.", time: { start: MADE + 110, end: MADE + 150 } }),
    tool({ input: { command: "ls" }, output: "prices.txt\n", metadata: { exit: 0 } }),
    message(),
  ];
  const events = read(...rows);

  it("is read into what was asked, answered, called, given back and used", () => {
    const own = (after: number) => ({ sessionId: "ses_1", at: at(after) });
    const callId = `assistant@${MADE + 100}`;
    const used = {
      input_tokens: 101,
      output_tokens: 42,
      cache_creation_input_tokens: 201,
      cache_read_input_tokens: 3010,
    };
    expect(events).toEqual([
      { type: "session", ...own(0), cwd: "/home/kim/shop", model: "claude-sonnet-4-5", agentVersion: "1.18.33" },
      {
        type: "prompt",
        ...own(0),
        key: expect.stringMatching(`^user@${MADE}:[0-9a-f]{12}$`),
        text: 'Sell "more" now.',
      },
      {
        ...{ type: "reply", ...own(150), key: `${callId}:${MADE + 110}`, callId, model: "claude-sonnet-4-5" },
        text: "I lower prices.",
      },
      {
        ...{ type: "tool-call", ...own(200), key: `${callId}:t1`, toolId: "t1", callId, name: "bash" },
        input: { command: "ls" },
      },
      {
        ...{ type: "tool-result", ...own(300), key: `${callId}:t1:result`, toolId: "t1", output: "prices.txt\n" },
        ...{ isError: false, exitCode: 0, edits: [], commits: [] },
      },
      {
        ...{ type: "usage", ...own(900), key: `${callId}:usage`, callId, model: "claude-sonnet-4-5", costUsd: 0.002 },
        usage: { id: `claude-sonnet-4-5@${MADE + 100}:101.42.201.3010`, ...used },
      },
    ]);
  });

  it("has the same keys and usage ids in a fork, whose rows have other ids", () => {
    const fork = { session_id: "ses_2", time_created: MADE + 5000, time_updated: MADE + 5000 };
    const copies = rows.slice(1).map((copied, i) => ({ ...copied, ...fork, id: `copy_${i}`, message_id: "message_2" }));
    const names = (all: typeof events) =>
      all.flatMap((event) => ("key" in event ? [[event.key, event.type === "usage" && event.usage.id]] : []));
    const forked = read(...copies);
    expect(names(forked)).toEqual(names(events.slice(1)));
    expect(new Set(forked.map((event) => "sessionId" in event && event.sessionId))).toEqual(new Set(["ses_2"]));
  });

  it("ignores what is still being written", () => {
    expect(read(message({ time: { created: MADE + 100 } }), message({ tokens: { input: 0, output: 0 } }))).toEqual([]);
    expect(read(part({ type: "text", text: "I low", time: { start: MADE + 110 } }))).toEqual([]);
    expect(read(tool({ status: "pending", input: {} }))).toEqual([]);
    expect(read(tool({ status: "running", input: { command: "ls" } })).map((event) => event.type)).toEqual([
      "tool-call",
    ]);
  });

  it("has a title once it is named, and the parent that it works for", () => {
    const [event] = read(session({ id: "ses_3", parent_id: "ses_1", title: "Selling" }));
    expect(event).toMatchObject({ type: "session", sessionId: "ses_3", parentId: "ses_1", title: "Selling" });
  });
});

it.each<[string, object, object?]>([
  ["what the client adds", { type: "text", text: "Called the Read tool", synthetic: true }],
  ["what the client keeps for itself", { type: "text", text: "x", ignored: true }],
  ["what a sub-agent is told", { type: "text", text: "Find it." }, { parent_id: "ses_0" }],
  ["a file", { type: "file", mime: "image/png", url: "data:image/png;base64,x" }],
])("a prompt of opencode is not %s", (_, data, more) => {
  expect(read(part(data, asked, more))).toEqual([]);
});

describe("a tool's result of opencode", () => {
  const diff = "Index: a.ts\n===\n--- a.ts\n+++ a.ts\n@@ -1,3 +1,4 @@\n one\n-two\n+zwei\n+zwo\n three\n";
  const change = { startLine: 2, endLine: 3, added: 2, removed: 1 };

  it.each<[string, object, object[]]>([
    [
      "an edit",
      { input: { filePath: "/s/a.ts" }, metadata: { diff, filediff: { file: "/s/a.ts", patch: diff } } },
      [{ path: "/s/a.ts", ...change }],
    ],
    [
      "several edits",
      { input: { filePath: "/s/a.ts" }, metadata: { results: [{ diff }, { diff }] } },
      [
        { path: "/s/a.ts", ...change },
        { path: "/s/a.ts", ...change },
      ],
    ],
    [
      "a patch",
      {
        input: { patchText: "x" },
        metadata: {
          files: [
            { filePath: "/s/a.ts", diff },
            { filePath: "/s/b.ts", movePath: "/s/c.ts", patch: diff },
          ],
        },
      },
      [
        { path: "/s/a.ts", ...change },
        { path: "/s/c.ts", ...change },
      ],
    ],
    [
      "a new file",
      { input: { filePath: "/s/a.ts", content: "a\nb\n" }, metadata: { exists: false } },
      [{ path: "/s/a.ts", startLine: 1, endLine: 2, added: 2, removed: 0 }],
    ],
    [
      "a file written over another",
      { input: { filePath: "/s/a.ts", content: "a\nb\n" }, metadata: { exists: true } },
      [{ path: "/s/a.ts", startLine: 1, endLine: 2 }],
    ],
    [
      "a file that was not written",
      { status: "error", input: { filePath: "/s/a.ts", content: "a" }, error: "denied" },
      [],
    ],
  ])("has the lines of %s", (_, state, edits) => {
    expect(resultOf(state)?.edits).toEqual(edits);
  });

  it("tells how it ended", () => {
    expect(resultOf({ output: "no", metadata: { exit: 2 } })).toMatchObject({
      isError: true,
      exitCode: 2,
      output: "no",
    });
    expect(resultOf({ status: "error", error: "denied" })).toMatchObject({ isError: true, output: "denied" });
  });

  it("names commits", () => {
    const sha = "0123456789abcdef0123456789abcdef01234567";
    expect(
      resultOf({ input: { command: "git commit -qam x && git rev-parse HEAD" }, output: `${sha}\n` })?.commits,
    ).toEqual([sha]);
  });
});

it("counts rows of opencode of unknown kinds", () => {
  expect(read(row("dream", {}), part({ type: "dream" }), { table: "part" }, "x")).toEqual(
    ["dream", "part/dream", "part", "unreadable"].map((kind) => ({ type: "unknown", kind })),
  );
});
