import { describe, expect, it } from "vitest";
import { understandSpan } from "../../../src/formats/session.ts";
import { answerText } from "../../../src/formats/step.ts";

const failure = (span: object) => understandSpan(span as Record<string, unknown>).failure;

describe("a step failed where", () => {
  it.each([
    ["its exit code is another than 0", { attributes: { "process.exit.code": 1 } }, "exit 1"],
    ["an agent spells it so", { attributes: { exit_code: "137" } }, "exit 137"],
    ["its span has it", { exitCode: -9 }, "exit -9"],
    ["OpenTelemetry names the error", { attributes: { "error.type": "timeout" } }, "timeout"],
    ["only that it was a tool's is known", { attributes: { "error.type": "tool_error" } }, "failed"],
    ["its status says so in a word", { status: "ERROR" }, "failed"],
    ["its status is OTLP's", { status: { code: 2 } }, "failed"],
    ["its status is OTLP/JSON's", { status: { code: "STATUS_CODE_ERROR" } }, "failed"],
    ["attributes tell the status", { attributes: { "otel.status_code": "ERROR" } }, "failed"],
    ["it is flagged", { is_error: true }, "failed"],
    ["its attributes are", { attributes: { isError: true } }, "failed"],
    ["its output is", { output: { is_error: true, content: "no" } }, "failed"],
    ["it did not succeed", { success: false }, "failed"],
    ["it has an error of a type", { error: { type: "RateLimit", message: "slow down" } }, "RateLimit"],
    ["its kind is an error", { kind: "error" }, "failed"],
  ])("%s", (_, span, label) => expect(failure(span)?.label).toBe(label));

  it.each([
    [{}],
    [{ status: "ok", attributes: { "process.exit.code": 0, exit_code: "0", error: false, is_error: false } }],
    [{ status: { code: 1 }, error: null, success: true }],
    [{ status: { code: 0, message: "fine" }, attributes: { exit_code: "none", "error.type": "" } }],
    [{ error: "", level: "info", output: "error: not one" }],
    [{ attributes: { exit_code: 0.5 }, is_error: "no" }],
  ])("not where nothing says that it failed: %j", (span) => expect(failure(span)).toBeNull());
});

it("tells what was said about a failure", () => {
  expect(failure({ status: { code: 2, message: "boom" } })?.message).toBe("boom");
  expect(failure({ error: "no route" })?.message).toBe("no route");
  const events = [{ name: "exception", attributes: { "exception.message": "bad", "exception.stacktrace": "at x" } }];
  expect(failure({ status: "error", events })?.message).toBe("at x");
  expect(failure({ exit_code: 1 })?.message).toBeNull();
});

it("recognises input and output of a step by the names that many tools use", () => {
  const both = (span: object) => {
    const { input, output } = understandSpan(span as Record<string, unknown>);
    return [input, output];
  };
  expect(both({ input: "a", output: { b: 1 } })).toEqual(["a", { b: 1 }]);
  expect(both({ attributes: { "input.value": "a", "output.value": "b" } })).toEqual(["a", "b"]);
  expect(
    both({ input: "x", attributes: { "gen_ai.tool.call.arguments": "a", "gen_ai.tool.call.result": "b" } }),
  ).toEqual(["a", "b"]);
  expect(both({ input: null, output: "" })).toEqual([undefined, undefined]);
});

it("reads what a model answered, as text or as messages", () => {
  expect(answerText(" plain ")).toBe("plain");
  expect(answerText('{"not":"messages"}')).toBe('{"not":"messages"}');
  expect(answerText([{ role: "assistant", parts: [{ type: "text", content: "one" }, { content: "two" }] }])).toBe(
    "one\n\ntwo",
  );
  expect(answerText('[{"role":"assistant","content":[{"type":"text","text":"hi"}]}]')).toBe("hi");
  expect(answerText({ choices: [{ message: { content: "yes" } }] })).toBe("yes");
  const unsaid = ["blob", "reasoning", "compaction", "tool_call_response", "tool_result", "server_tool_call"];
  const parts = unsaid.map((type) => ({ type, content: "unsaid" }));
  expect(answerText([{ role: "assistant", parts: [...parts, { type: "text", content: "said" }] }])).toBe("said");
  expect([answerText(undefined), answerText(7), answerText([[[[[[[["deep"]]]]]]]])]).toEqual(["", "", ""]);
});
