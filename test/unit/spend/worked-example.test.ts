import { expect, it } from "vitest";
import { sideOf } from "../../../src/insight/spend/dedupe-key.ts";
import { catchUpSpend, spendReport } from "../../../src/insight/spend/spend.ts";
import { startWithDevice } from "../../support/instance.ts";

const AT = "2026-11-20T10:00:00Z";
const KINDS = ["", "message", "session", "measures", "request"];

it("five reports of three calls are kept, paired, rolled up and priced as the worked example of decision 19 says", async () => {
  const { t, token, team } = await startWithDevice();
  const written = { input_tokens: 100, output_tokens: 50, cache_creation_input_tokens: 500 };
  const forAnHour = { ...written, cache_creation: { ephemeral_1h_input_tokens: 500 } };
  const reported = { sessionId: "s", branch: "main", model: "claude-opus-4-6" };
  const payloads = [
    { ...reported, requestId: "req_1", usage: { id: "msg_1", input_tokens: 10, output_tokens: 5 } },
    { ...reported, usage: forAnHour },
    { ...reported, usage: forAnHour },
  ];
  const entries = payloads.map((payload, i) => ({ seq: i + 1, clientTimestamp: AT, payload }));
  const model = "claude-opus-4-6-20260205";
  const spans = [
    { id: "1", model, requestId: "req_1", usage: { input_tokens: 10, output_tokens: 20 } },
    { id: "2", model, costUsd: 0.01, usage: written },
  ];
  const sessions = [{ id: "s", outcome: "completed", startedAt: AT, branch: "main", spans }];
  for (const [path, json] of [
    ["/api/telemetry/ingest", { entries }],
    ["/api/agent-traces/ingest", { sessions }],
  ] as const)
    expect((await t.post(path, { token, json })).status).toBe(200);
  await catchUpSpend(t.instance.core);

  const reports = t.rows("SELECT usage_key AS key, source, times, output FROM spend_usages ORDER BY usage_key, source");
  expect(
    reports.map(({ key, source, times, output }) => [KINDS[key[0]], key.length, sideOf(source), times, output]),
  ).toEqual([
    ["message", 31, "telemetry", 1, 5],
    ["session", 16, "telemetry", 1, 0],
    ["measures", 17, "telemetry", 2, 50],
    ["measures", 17, "spans", 1, 50],
    ["request", 16, "spans", 1, 20],
    ["request", 31, "telemetry", 1, 0],
  ]);
  expect(
    t.rows(
      `SELECT branch, session_branch, model, usages, input, output, cache_write, cache_write_1h, reported_nano, reported
       FROM spend_cells WHERE usages > 0 ORDER BY usages`,
    ),
  ).toEqual([
    {
      branch: "",
      session_branch: "main",
      model,
      usages: 1,
      input: 10,
      output: 20,
      cache_write: 0,
      cache_write_1h: 0,
      reported_nano: 0,
      reported: 0,
    },
    {
      branch: "main",
      session_branch: "main",
      model: "claude-opus-4-6",
      usages: 2,
      input: 200,
      output: 100,
      cache_write: 0,
      cache_write_1h: 1_000,
      reported_nano: 10_000_000,
      reported: 1,
    },
  ]);
  const day = Date.parse(AT);
  const { total, groups } = spendReport(t.instance.core, team.id, { from: day, to: day, by: "model" });
  expect(groups.map(({ key, usd }) => [key, usd])).toEqual([
    ["claude-opus-4-6", 0.0135],
    [model, 0.00055],
  ]);
  expect(total).toMatchObject({ usages: 3, usd: 0.01405, reportedUsd: 0.01 });
});
