import { expect, it } from "vitest";
import { startInstance, type TestDevice, type TestInstance } from "../support/instance.ts";
import { spansOf } from "../support/otlp.ts";

/** An agent's span says again what the calls below it used: that counts once, however the spans come. */

type Sent = Parameters<typeof spansOf>[2];

const [AGENT, STEP] = ["f".repeat(16), "e".repeat(16)];
const NAMED = { "gen_ai.conversation.id": "c-1" };

const used = (input: number, output: number) => ({
  "gen_ai.usage.input_tokens": input,
  "gen_ai.usage.output_tokens": output,
});

const call = (number: number, parent: string, more: Sent["values"] = {}): Sent => ({
  id: String(number).padStart(16, "0"),
  parent,
  name: "chat gpt-5",
  values: { "gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-5", ...used(100 + number, number), ...more },
});

/** What the first two calls come to. */
const agent: Sent = {
  id: AGENT,
  name: "invoke_agent",
  values: { "gen_ai.operation.name": "invoke_agent", ...NAMED, ...used(203, 3) },
};

async function send(t: TestInstance, { token }: TestDevice, ...spans: Sent[]) {
  const json = spansOf({ "service.name": "my-agent" }, "my", ...spans);
  expect((await t.post("/v1/traces", { token, json })).status).toBe(200);
}

/** Tokens by session: of how many calls, input and output. */
async function spend(t: TestInstance, { token }: TestDevice) {
  await t.instance.settle();
  const { body } = await t.get("/api/spend?by=session", { token });
  type Group = { key: string; usages: number; inputTokens: number; outputTokens: number };
  return Object.fromEntries(
    body.groups.map(({ key, usages, inputTokens, outputTokens }: Group) => [key, [usages, inputTokens, outputTokens]]),
  );
}

it("counts once where spans that are not recorded stand between an agent and its calls", async () => {
  const t = await startInstance();
  const device = await t.device();
  const inner = { id: STEP, parent: "d".repeat(16), name: "step", values: {} };
  const outer = { id: "d".repeat(16), parent: AGENT, name: "graph", values: {} };
  await send(t, device, call(1, STEP), call(2, STEP), inner, outer, agent);
  expect(await spend(t, device)).toEqual({ "c-1": [2, 203, 3] });
  expect(t.rows("SELECT parent_id FROM trace_spans ORDER BY external_id").map((row) => row.parent_id)).toEqual([
    AGENT,
    AGENT,
    null,
  ]);
});

it("leaves a span below what it names where nothing above it is known, and where spans name each other", async () => {
  const t = await startInstance();
  const device = await t.device();
  const [one, other] = ["1".repeat(16), "2".repeat(16)];
  await send(
    t,
    device,
    call(1, STEP),
    { id: one, parent: other, name: "a", values: {} },
    { id: other, parent: one, name: "b", values: {} },
    call(2, one),
  );
  expect(t.rows("SELECT parent_id FROM trace_spans ORDER BY external_id").map((row) => row.parent_id)).toEqual([
    STEP,
    one,
  ]);
});
