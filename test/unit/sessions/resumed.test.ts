import { expect, it } from "vitest";
import { findSessions, freshenSessions } from "../../../src/insight/sessions/sessions.ts";
import { DAY_MS } from "../../../src/kit/clock.ts";
import { COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import { setRetention } from "../../../src/share/erasure/erasure.ts";
import { retentionJob } from "../../../src/share/erasure/nightly.ts";
import { startInstance } from "../../support/instance.ts";

it("shows the whole usage of a session that goes on after it ran out, as spend does", async () => {
  const t = await startInstance();
  const device = await t.device(await t.team({ name: "Acme" }));
  const { core } = t.instance;
  const call = (id: string, input_tokens: number) => ({
    id,
    kind: "llm",
    model: "claude-opus-4-6",
    startedAt: "2026-11-20T10:00:00Z",
    usage: { id, input_tokens, output_tokens: 10 },
  });
  const send = async (...spans: object[]) => {
    const sessions = [{ id: "s-1", outcome: "success", startedAt: "2026-11-20T10:00:00Z", spans }];
    const { status } = await t.post("/api/agent-traces/ingest", { token: device.token, json: { sessions } });
    expect(status).toBe(200);
  };
  const listed = async () => {
    await t.instance.settle();
    await freshenSessions(core);
    const { rows } = await findSessions(core, device.team.id);
    return rows.map(({ externalId, tokens, usd }) => [externalId, tokens, usd]);
  };
  const spent = async () => {
    const { body } = await t.get("/api/spend?by=session&since=2026-11-01", { token: device.token });
    return body.groups.map((one: { key: string; inputTokens: number; outputTokens: number; usd: number }) => [
      one.key,
      one.inputTokens + one.outputTokens,
      one.usd,
    ]);
  };
  await send(call("m-1", 1_000));
  expect(await listed()).toEqual([["s-1", 1_010, 0.00525]]);
  await setRetention(core, "Acme", "traces", 30, COMMAND_LINE);
  t.clock.advance(40 * DAY_MS);
  await retentionJob.run(core);
  expect(await listed()).toEqual([]);
  expect(await spent()).toEqual([["s-1", 1_010, 0.00525]]);
  await send(call("m-1", 1_000), call("m-2", 2_000));
  expect(await spent()).toEqual([["s-1", 3_020, 0.0155]]);
  expect(await listed()).toEqual([["s-1", 3_020, 0.0155]]);
});

it("counts a session's own total once when it is sent again after the session ran out", async () => {
  const t = await startInstance();
  const device = await t.device(await t.team({ name: "Acme" }));
  const { core } = t.instance;
  const send = async (input_tokens: number, costUsd: number) => {
    const told = { outcome: "success", model: "claude-opus-4-6", startedAt: "2026-11-20T10:00:00Z", spans: [] };
    const sessions = [{ ...told, id: "s-1", usage: { input_tokens, output_tokens: input_tokens / 100 }, costUsd }];
    const { status } = await t.post("/api/agent-traces/ingest", { token: device.token, json: { sessions } });
    expect(status).toBe(200);
    await t.instance.settle();
    const { body } = await t.get("/api/spend?by=session&since=2026-11-01", { token: device.token });
    return body.total;
  };
  expect(await send(1_000, 0.5)).toMatchObject({ usages: 1, inputTokens: 1_000, outputTokens: 10, reportedUsd: 0.5 });
  await setRetention(core, "Acme", "traces", 30, COMMAND_LINE);
  t.clock.advance(40 * DAY_MS);
  await retentionJob.run(core);
  expect(await send(3_000, 0.7)).toMatchObject({ usages: 1, inputTokens: 3_000, outputTokens: 30, reportedUsd: 0.7 });
  const { rows } = await findSessions(core, device.team.id);
  expect(rows.map(({ tokens }) => tokens)).toEqual([3_030]);
});
