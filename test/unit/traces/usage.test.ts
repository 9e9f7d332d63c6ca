import { expect, it } from "vitest";
import { readUsage } from "../../../src/traces/understood.ts";
import { tokensOf } from "../../../src/traces/usage.ts";

const span = (usage: object | null) => ({ usage: usage && readUsage(usage) });

it("counts each message once, by the record with the largest output", () => {
  const spans = [
    span({ id: "m", input_tokens: 10, output_tokens: 5 }),
    span({ id: "m", input_tokens: 10, output_tokens: 9 }),
    span({ id: "m", input_tokens: 10, output_tokens: 7 }),
    span({ input_tokens: 1, output_tokens: 1 }),
    span({ input_tokens: 1, output_tokens: 1 }),
    span(null),
  ];
  expect(tokensOf({ usage: readUsage({ input_tokens: 999 }), spans })).toEqual({
    input: 12,
    output: 11,
    cacheWrite: null,
    cacheRead: null,
  });
});

it("takes the session's own usage only when no span tells of any, and nothing for nothing", () => {
  const usage = readUsage({ cache_read_input_tokens: 7 });
  expect(tokensOf({ usage, spans: [span(null)] })).toEqual({
    input: null,
    output: null,
    cacheWrite: null,
    cacheRead: 7,
  });
  expect(tokensOf({ usage: null, spans: [] })).toBeUndefined();
});
