import { expect, it } from "vitest";
import { spendErasure } from "../../../src/insight/spend/spend.ts";
import { DAY_MS } from "../../../src/kit/clock.ts";
import { COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import { carryOut, requestErasure, resolveTarget, setRetention } from "../../../src/share/erasure/erasure.ts";
import { retentionJob } from "../../../src/share/erasure/nightly.ts";
import { makeAccount } from "../../support/accounts.ts";
import { filesWith } from "../../support/erasure.ts";
import { startWithDevice, type TestDevice, type TestInstance } from "../../support/instance.ts";
import { claudeCall, claudeLogs } from "../../support/otlp.ts";

async function erase(t: TestInstance, request: Parameters<typeof resolveTarget>[1]): Promise<void> {
  const { core } = t.instance;
  await carryOut(core, await requestErasure(core, resolveTarget(core, request), "asked for", COMMAND_LINE));
}

async function send(t: TestInstance, { token }: TestDevice, path: string, json: object): Promise<void> {
  expect((await t.post(path, { token, json })).status).toBe(200);
}

async function spent(t: TestInstance, { token }: TestDevice, by: string, days = 30) {
  const { body } = await t.get(`/api/spend?by=${by}&since=${days}d`, { token });
  return {
    usages: body.total.usages,
    groups: body.groups.map(({ key, inputTokens }: { key: string; inputTokens: number }) => `${key} ${inputTokens}`),
  };
}

/** The call `req_1` of session s-1 as the capture client reports it, with both ids of the provider. */
const captured = {
  repoKey: "shop",
  entries: [
    {
      seq: 1,
      payload: {
        type: "usage",
        sessionId: "s-1",
        model: "claude-opus-4-6",
        usage: { id: "msg_1", requestId: "req_1", input_tokens: 100, output_tokens: 41 },
      },
    },
  ],
};

it("counts a session's exported usage once the capture client's report of it is erased", async () => {
  const { t, device: client } = await startWithDevice();
  const other = await t.device(client.team);
  await send(t, client, "/api/agent-traces/ingest", {
    repoKey: "shop",
    sessions: [{ id: "s-1", outcome: "success", spans: [] }],
  });
  await send(t, client, "/api/telemetry/ingest", captured);
  await send(t, other, "/v1/logs", claudeLogs(claudeCall("req_1")));
  expect(await spent(t, other, "device")).toEqual({ usages: 1, groups: [`${client.deviceId} 100`] });
  const [{ id }] = t.rows("SELECT id FROM trace_sessions WHERE device_id = ?", client.deviceId);
  await erase(t, { session: String(id) });
  expect(await spent(t, other, "device")).toEqual({ usages: 1, groups: [`${other.deviceId} 100`] });
  await send(t, other, "/v1/logs", claudeLogs(claudeCall("req_2")));
  expect(await spent(t, other, "device")).toEqual({ usages: 2, groups: [`${other.deviceId} 200`] });
});

it("forgets a session's own total with its erased repository, though calls without a repository stay", async () => {
  const { t, device } = await startWithDevice();
  await send(t, device, "/v1/logs", claudeLogs(claudeCall("req_1")));
  const session = { id: "s-1", outcome: "success", agent: "marigold-agent", branch: "marigold-branch", spans: [] };
  await send(t, device, "/api/agent-traces/ingest", { repoKey: "shop", sessions: [session] });
  expect(await spent(t, device, "branch")).toEqual({ usages: 1, groups: ["marigold-branch 100"] });
  await erase(t, { repo: "shop" });
  for (const by of ["branch", "agent"]) expect(await spent(t, device, by)).toEqual({ usages: 1, groups: [" 100"] });
  expect(filesWith(t.directory, "marigold")).toEqual([]);
});

it("counts a session's own total once its repository's entries are erased that told of its calls, unless others do", async () => {
  const { t, device } = await startWithDevice();
  const own = { outcome: "ok", costUsd: 9, usage: { input_tokens: 5_000, output_tokens: 1 }, spans: [] };
  const sessions = ["s-1", "s-2"].map((id) => ({ id, ...own }));
  await send(t, device, "/api/agent-traces/ingest", { repoKey: "shop", sessions });
  const call = (sessionId: string, costUsd: number, input_tokens: number) => ({
    payload: { sessionId, costUsd, usage: { id: `${input_tokens}`, input_tokens, output_tokens: 1 } },
  });
  const tell = (repoKey: string, ...calls: readonly object[]) =>
    send(t, device, "/api/telemetry/ingest", { repoKey, entries: calls.map((one, i) => ({ seq: i + 1, ...one })) });
  await tell("shop", call("s-1", 1, 10));
  await tell("till", call("s-1", 2, 100), call("s-2", 4, 1_000));
  expect(await spent(t, device, "session")).toEqual({ usages: 3, groups: ["s-2 1000", "s-1 110"] });
  await erase(t, { repo: "till" });
  expect(await spent(t, device, "session")).toEqual({ usages: 2, groups: ["s-2 5000", "s-1 10"] });
  expect(t.rows("SELECT sum(reported_nano) AS nano FROM spend_cells")).toEqual([{ nano: 10e9 }]);
});

it.each(["repo", "session"])("keeps the figures of entries that arrive while their %s is erased", async (kind) => {
  const { t, core, device } = await startWithDevice();
  let seq = 0;
  const tell = async (...usages: readonly object[]) => {
    t.clock.advance(1_000);
    const entries = usages.map((usage) => ({ seq: ++seq, payload: { sessionId: "s-1", model: "gpt-5", usage } }));
    await send(t, device, "/api/telemetry/ingest", { repoKey: "shop", entries });
    await t.instance.settle();
  };
  await send(t, device, "/api/agent-traces/ingest", {
    repoKey: "shop",
    sessions: [{ id: "s-1", outcome: "ok", usage: { input_tokens: 9_999, output_tokens: 1 }, spans: [] }],
  });
  const alike = { input_tokens: 1, output_tokens: 1 };
  await tell(alike, { id: "a", input_tokens: 10, output_tokens: 2 }, { id: "b", input_tokens: 100, output_tokens: 3 });
  const [{ id }] = t.rows("SELECT id FROM trace_sessions");
  const target = resolveTarget(core, kind === "repo" ? { repo: "shop" } : { session: String(id) });
  const asked = await requestErasure(core, target, "asked for", COMMAND_LINE);
  await tell(
    alike,
    alike,
    { id: "b", input_tokens: 1_000, output_tokens: 4 },
    { id: "c", input_tokens: 10_000, output_tokens: 5 },
  );
  await carryOut(core, asked);
  expect(await spent(t, device, "device")).toEqual({ usages: 4, groups: [`${device.deviceId} 11002`] });
});

it("keeps the figures of entries that are counted between two transactions of an erasure", async () => {
  const { t, core, device } = await startWithDevice();
  const tell = async (seq: number, input_tokens: number) => {
    const entries = [{ seq, payload: { model: "gpt-5", usage: { id: "a", input_tokens, output_tokens: 1 } } }];
    await send(t, device, "/api/telemetry/ingest", { repoKey: "shop", entries });
    await t.instance.settle();
  };
  await tell(1, 10);
  const [{ through }] = t.rows("SELECT max(id) AS through FROM deliveries");
  const cells = { teamId: device.team.id, deviceId: device.deviceId, repoKey: "shop", session: null, through };
  let isTold = false;
  for await (const step of spendErasure.eraseSpend(core, [cells])) {
    if (!isTold) await tell(2, 1_000);
    isTold = true;
    await core.store.write(step);
  }
  expect(await spent(t, device, "repo")).toEqual({ usages: 1, groups: ["shop 1000"] });
});

it("keeps a call's usage in a repository that stays, although an erased one reported it as well", async () => {
  const { t, device } = await startWithDevice();
  const call = (id: string, input_tokens: number) => ({ payload: { usage: { id, input_tokens, output_tokens: 1 } } });
  const tell = (repoKey: string, ...calls: readonly object[]) =>
    send(t, device, "/api/telemetry/ingest", { repoKey, entries: calls.map((one, i) => ({ seq: i + 1, ...one })) });
  // As when a repository is renamed and its records are sent again.
  await tell("acme/market", call("a", 10), call("b", 100));
  await tell("acme/shop", call("a", 10), call("b", 100), call("c", 1_000));
  await tell("acme/till", call("b", 90), call("d", 10_000));
  expect(await spent(t, device, "repo")).toEqual({ usages: 4, groups: ["acme/till 10000", "acme/shop 1110"] });
  await erase(t, { repo: "acme/shop" });
  expect(await spent(t, device, "repo")).toEqual({ usages: 3, groups: ["acme/till 10000", "acme/market 110"] });
  await erase(t, { repo: "acme/market" });
  expect(await spent(t, device, "repo")).toEqual({ usages: 2, groups: ["acme/till 10090"] });
});

it.each(["device", "repo"] as const)("erases with a %s the spend of sessions that ran out before", async (kind) => {
  const { t, device: mine } = await startWithDevice();
  const other = await t.device(mine.team);
  const session = {
    ...{ id: "marigold-1", outcome: "success", branch: "marigold-branch", model: "claude-opus-4-6" },
    ...{ userEmail: "marigold@example.com", costUsd: 2 },
    spans: [{ id: "a", usage: { input_tokens: 100, output_tokens: 1 } }],
  };
  await send(t, mine, "/api/agent-traces/ingest", { repoKey: "shop", sessions: [session] });
  await send(t, other, "/api/agent-traces/ingest", {
    repoKey: "till",
    sessions: [{ ...session, id: "s-2", branch: "main", userEmail: null }],
  });
  await setRetention(t.instance.core, mine.team.id, "traces", 30, COMMAND_LINE);
  t.clock.advance(31 * DAY_MS);
  await retentionJob.run(t.instance.core);
  expect(t.count("trace_sessions")).toBe(0);
  await erase(t, kind === "device" ? { device: mine.deviceId } : { repo: "shop" });
  expect(await spent(t, other, "session", 60)).toEqual({ usages: 1, groups: ["s-2 100"] });
  expect(filesWith(t.directory, "marigold")).toEqual([]);
});

it("no longer names an erased person by spend that ran out, also in sums that were asked for before", async () => {
  const { t, core, device } = await startWithDevice();
  await makeAccount(core, { email: "marigold@example.com", team: { id: device.team.id, role: "member" } });
  const usage = { input_tokens: 100, output_tokens: 1 };
  const session = { id: "s-1", outcome: "success", userEmail: "marigold@example.com", spans: [{ id: "a", usage }] };
  await send(t, device, "/api/agent-traces/ingest", { repoKey: "shop", sessions: [session] });
  await t.instance.settle();
  await setRetention(core, device.team.id, "traces", 30, COMMAND_LINE);
  t.clock.advance(31 * DAY_MS);
  await retentionJob.run(core);
  expect(await spent(t, device, "person", 60)).toEqual({ usages: 1, groups: ["marigold@example.com 100"] });
  await erase(t, { person: "marigold@example.com" });
  expect(await spent(t, device, "person", 60)).toEqual({ usages: 1, groups: [" 100"] });
});
