import { expect, it } from "vitest";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { parsePolicy, setPolicy } from "../../src/record/policy/policy.ts";
import { sessionCounts } from "../../src/record/traces/traces.ts";
import { startWithDevice, type TestInstance } from "../support/instance.ts";
import { protobufOf, spansOf } from "../support/otlp.ts";

/** Spans state by their status that a step failed; only some also name the error. */

const tool = { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "fetch", "session.id": "s-1" };
const request = (...codes: (number | string)[]) =>
  spansOf(
    { "service.name": "my-agent" },
    "my",
    ...codes.map((code) => ({ name: "fetch", values: tool, status: { code, message: "no route to host" } })),
    { name: "fetch", values: { ...tool, "error.type": "timeout" }, status: { code: 2, message: "" } },
    { name: "fetch", values: tool },
  );

const errorsOf = (t: TestInstance) =>
  t
    .rows("SELECT document FROM trace_spans ORDER BY id")
    .map(({ document }) => JSON.parse(document).attributes)
    .map((told) => [told["error.type"], told["error.message"]]);

const failed = (t: TestInstance) => sessionCounts.failedSpans(t.instance.core, 1);

it("records that a span failed, and the message of its status", async () => {
  const { t, token } = await startWithDevice();
  const json = request(2, "2", "STATUS_CODE_ERROR", 1, 0);
  expect((await t.post("/v1/traces", { token, json })).body).toEqual({});
  expect(errorsOf(t)).toEqual([
    ...Array(3).fill(["_OTHER", "no route to host"]),
    ...Array(2).fill([undefined, undefined]),
    ["timeout", undefined],
    [undefined, undefined],
  ]);
  expect(await failed(t)).toBe(4);
});

it("does the same for Protocol Buffers", async () => {
  const { t, token } = await startWithDevice();
  const { status } = await t.instance.fetch(
    new Request("http://localhost/v1/traces", {
      method: "POST",
      headers: { "content-type": "application/x-protobuf", authorization: `Bearer ${token}` },
      body: protobufOf(request(2, 1)),
    }),
  );
  expect(status).toBe(200);
  expect(errorsOf(t).slice(0, 2)).toEqual([
    ["_OTHER", "no route to host"],
    [undefined, undefined],
  ]);
  expect(await failed(t)).toBe(2);
});

it("keeps only that a span failed where only metadata may be kept, and does not note its message as withheld", async () => {
  const { t, token, team } = await startWithDevice();
  await setPolicy(t.instance.core, team.id, parsePolicy('{"captureMode":"metadata"}'), COMMAND_LINE);
  expect((await t.post("/v1/traces", { token, json: request(2) })).body).toEqual({});
  expect(errorsOf(t)).toEqual([
    ["_OTHER", undefined],
    ["timeout", undefined],
    [undefined, undefined],
  ]);
  expect(await failed(t)).toBe(2);
  expect(t.rows("SELECT withheld FROM deliveries").filter(({ withheld }) => withheld > 0)).toEqual([]);
});
