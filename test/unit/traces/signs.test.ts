import { expect, it } from "vitest";
import { understandSpan } from "../../../src/formats/session.ts";
import { countFailedSpans, sourceSpans } from "../../../src/record/traces/follow.ts";
import { readMetered } from "../../../src/record/traces/metered.ts";
import { SIGNS, signsOf } from "../../../src/record/traces/signs.ts";
import { startWithDevice, type TestInstance } from "../../support/instance.ts";

const AT = "2026-11-20T10:00:00Z";
const usage = { input_tokens: 5, output_tokens: 1 };

async function told(t: TestInstance, sessionId: number) {
  const { core } = t.instance;
  const edits: string[] = [];
  for await (const spans of sourceSpans.withEdits(core, sessionId)) edits.push(...spans.map(({ spanId }) => spanId));
  const metered = await readMetered(core, sessionId);
  return {
    failed: await countFailedSpans(core, sessionId),
    edits,
    calls: metered?.calls.map(({ usage: { output } }) => output),
    times: await sourceSpans.times(core, sessionId),
  };
}

it("finds what spans report by their stored signs, and reads older spans that have none", async () => {
  const { t, token } = await startWithDevice();
  const deliver = (spans: readonly object[]) =>
    t.post("/api/agent-traces/ingest", {
      token,
      json: { sessions: [{ id: "s", outcome: "ok", startedAt: AT, spans }] },
    });
  const edits = [{ path: "src/a.ts", lines: [{ start: 1, end: 2 }] }];
  const plain = Array.from({ length: 120 }, (_, i) => ({ id: `plain-${i}`, startedAt: "2026-11-20T10:00:05Z" }));
  const spans = [
    { id: "failed", attributes: { "error.type": "boom" } },
    { id: "edit", edits },
    { id: "call", usage },
    ...plain,
    {
      id: "later",
      startedAt: "2026-11-20T11:00:00Z",
      endedAt: "2026-11-20T11:00:01Z",
      usage: { ...usage, output_tokens: 2 },
    },
  ];
  expect((await deliver(spans)).status).toBe(200);
  const [{ id }] = t.rows("SELECT id FROM trace_sessions") as [{ id: number }];
  const first = { failed: 1, edits: ["edit"], calls: [1, 2] };
  const times = { first: Date.parse("2026-11-20T10:00:05Z"), last: Date.parse("2026-11-20T11:00:01Z") };
  expect(await told(t, id)).toEqual({ ...first, times });
  expect(t.rows("SELECT external_id AS id, signs FROM trace_spans WHERE signs <> 0 ORDER BY trace_spans.id")).toEqual([
    { id: "failed", signs: 1 },
    { id: "edit", signs: 2 },
    { id: "call", signs: 4 },
    { id: "later", signs: 4 },
  ]);
  t.instance.core.store.db.exec("UPDATE trace_spans SET signs = NULL");
  expect(await told(t, id)).toEqual({ ...first, times });
  // A span that comes again counts as it is now.
  expect((await deliver([{ id: "call", attributes: { "error.type": "boom" } }, { id: "failed" }])).status).toBe(200);
  expect(await told(t, id)).toEqual({ failed: 1, edits: ["edit"], calls: [2], times });
});

it.each([
  { status: 2 },
  { status: "Failed" },
  { status: { code: "STATUS_CODE_ERROR" } },
  { attributes: { "otel.status_code": 2 } },
  { attributes: [{ key: "process.exit.code", value: { intValue: "1" } }] },
  { error: { type: "boom" } },
  { level: "ERROR" },
  { output: { is_error: true } },
  { success: false },
])("has a sign for each way in which a step reports its failure: %j", (span) => {
  expect(understandSpan(span).failure).not.toBeNull();
  expect(signsOf(JSON.stringify(span)) & SIGNS.failure).toBe(SIGNS.failure);
});
