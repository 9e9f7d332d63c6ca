import { describe, expect, it } from "vitest";
import { keepMetadata, type MetadataKind, metadataOf } from "../../../src/formats/metadata.ts";
import { readPayload } from "../../../src/formats/payload.ts";
import { understandSession, understandSpan } from "../../../src/formats/session.ts";
import { readSession, readSpan, SESSION_FACTS, SPAN_FACTS } from "../../../src/record/traces/rules.ts";

const kept = (kind: MetadataKind, value: object) => JSON.parse(metadataOf(JSON.stringify(value), kind));
const TEXT = "Ada asked why the till never closes, and how";
const AT = "2026-11-21T08:00:00Z";

describe("of metadata", () => {
  it.each([
    ["id", "msg_01AbC"],
    ["toolUseId", "toolu_01"],
    ["type", "tool_result"],
    ["name", "chat gpt-5.1"],
    ["toolName", "mcp__github__create_issue"],
    ["model", "us.anthropic.claude-opus-4-5-v1:0"],
    ["at", AT],
    ["at", 1_763_712_000_000],
    ["startTime", [1_763_712_000, 5]],
    ["costUsd", 0.25],
    ["exitCode", 127],
    ["isError", true],
    ["path", "src/Kasse öffnen/till.ts"],
    ["files", ["a.ts", "b c.ts"]],
    ["gitBranch", "feature/till"],
    ["commit", "1a2b3c4d"],
    ["commits", ["1a2b3c4d", { sha: "1a2b3c4d5e", at: AT }]],
    ["hash", "sha256:9f86d081884c7d65"],
    ["edits", [{ path: "a.ts", startLine: 1, endLine: 4, commit: "1a2b3c4", oldLines: 2, newLines: 4 }]],
    ["usage", { id: "msg_1", input_tokens: 3, cache_creation: { ephemeral_1h_input_tokens: 2 } }],
    ["usageMetadata", { promptTokenCount: 5, thoughtsTokenCount: 1 }],
    ["attributes", { "gen_ai.request.model": "gpt-5", "gen_ai.usage.input_tokens": 4 }],
    // Needed to tell whether the input includes cached tokens, and thinking.
    ["attributes", { "gen_ai.usage.input_tokens": 4, "gen_ai.usage.total_tokens": 9 }],
    ["attributes", [{ key: "gen_ai.usage.output_tokens", value: { intValue: "12" } }]],
  ])("%s stays", (name, value) => {
    for (const kind of ["payload", "session", "span"] as const)
      expect(kept(kind, { [name]: value })).toEqual({ [name]: value });
  });

  it("the times of prompts, and for how long they were stored, stay", () => {
    const prompts = [
      { at: AT, text: TEXT, chars: TEXT.length },
      { at: AT, chars: TEXT },
    ];
    expect(kept("session", { prompts })).toEqual({ prompts: [{ at: AT, chars: TEXT.length }, { at: AT }] });
  });

  it("no member lets text through, under whatever name and at whatever depth", () => {
    const names = [
      ...["text", "prompt", "content", "output", "input", "error", "message", "result", "command", "diff", "title"],
      ...["id", "type", "name", "toolName", "model", "at", "costUsd", "exitCode", "branch", "commit", "hash", "usage"],
      ...["edits", "commits", "prompts", "attributes", "role", "status", "outcome", "value", "comment"],
    ];
    const wrap = (value: unknown) => [
      value,
      [value],
      { text: value },
      [{ text: value }],
      { id: value },
      [{ sha: value, at: value }],
    ];
    for (const kind of ["payload", "session", "span", "label"] as const)
      for (const name of names)
        for (const value of wrap(TEXT)) expect(JSON.stringify(kept(kind, { [name]: value }))).not.toContain("till");
    const attributes = [
      { key: "gen_ai.prompt", value: { stringValue: TEXT } },
      { key: "gen_ai.tool.name", value: { stringValue: TEXT } },
      { key: TEXT, value: { intValue: "1" } },
      { key: "gen_ai.usage.input_tokens", value: { arrayValue: { values: [{ stringValue: TEXT }] } } },
    ];
    expect(kept("span", { attributes })).toEqual({ attributes: [] });
    expect(kept("payload", { "\u0074ext": TEXT, type: "a".repeat(200), path: "a\nb" })).toEqual({});
  });

  it("every member by which sessions, spans and entries are listed and counted stays", () => {
    const session = {
      id: "s",
      outcome: "success",
      agent: "codex",
      model: "gpt-5",
      branch: "main",
      commits: ["1a2b3c4"],
    };
    const usage = { id: "msg_1", input_tokens: 3, output_tokens: 9, cache_read_input_tokens: 4 };
    for (const times of [SESSION_FACTS, SPAN_FACTS].flat().filter((name) => /start|end/i.test(name))) {
      const whole = { ...session, usage, costUsd: 1, files: ["a.ts"], [times]: AT };
      expect(readSession(kept("session", whole))).toEqual(readSession(whole));
      expect(understandSession(kept("session", whole))).toEqual(understandSession(whole));
      const span = {
        ...{ name: "execute_tool Read", kind: "tool", [times]: AT, usage },
        ...{ context: { span_id: "b" }, parentSpanContext: { spanId: "a" } },
        edits: [{ path: "a.ts", startLine: 2, endLine: 3 }],
        attributes: { "gen_ai.operation.name": "chat" },
      };
      expect(readSpan(kept("span", span))).toEqual(readSpan(span));
      expect(understandSpan(kept("span", span))).toEqual(understandSpan(span));
    }
    for (const payload of [
      { type: "usage", sessionId: "s", branch: "main", model: "gpt-5", at: AT, prompt_tokens: 5, completion_tokens: 6 },
      { message: { id: "msg_1", model: "claude-opus-4-5", usage }, gitBranch: "main", requestId: "req_1", text: TEXT },
      {
        usageMetadata: { promptTokenCount: 4, cachedContentTokenCount: 1, candidatesTokenCount: 2 },
        modelVersion: "gemini-3",
      },
      { attributes: { "gen_ai.response.model": "gpt-5", "gen_ai.usage.input_tokens": "4" } },
    ])
      expect(readPayload(kept("payload", payload))).toEqual(readPayload(payload));
  });

  it("numbers keep their spelling, and the same record gives the same text", () => {
    const text = '{ "id" : "a" , "startTimeUnixNano":1763712000000000001, "costUsd":1.50, "x":"y" }';
    const stripped = '{"id":"a","startTimeUnixNano":1763712000000000001,"costUsd":1.50}';
    expect(metadataOf(text, "span")).toBe(stripped);
    expect(metadataOf(stripped, "span")).toBe(stripped);
  });
});

it("reports whether text was left out, and lets others in between the elements of long lists", async () => {
  let pauses = 0;
  const yieldNow = () => {
    pauses++;
    return undefined;
  };
  const prompts = Array.from({ length: 1_000 }, () => ({ at: AT, text: TEXT }));
  const { text, isPart } = await keepMetadata(JSON.stringify({ prompts }), "session", yieldNow);
  expect(JSON.parse(text)).toEqual({ prompts: prompts.map(({ at }) => ({ at })) });
  expect([isPart, pauses >= 1_000]).toEqual([true, true]);
  for (const value of [{ id: "a" }, { id: "a", text: "", x: 1, list: [], y: null, z: true }])
    expect((await keepMetadata(JSON.stringify(value), "session", yieldNow)).isPart).toBe(false);
});
