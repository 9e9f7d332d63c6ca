import { expect, it } from "vitest";
import { bindDevice, createCode } from "../../../src/identity/devices/devices.ts";
import { spendErasure } from "../../../src/insight/spend/spend.ts";
import { COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import { carryOut, requestErasure, resolveTarget, resumeErasures } from "../../../src/share/erasure/erasure.ts";
import { deliverAll, eraseNow, filesWith, personWith } from "../../support/erasure.ts";
import { startWithDevice, type TestInstance } from "../../support/instance.ts";
import { ledgerFaults } from "../../support/ledger-faults.ts";
import { claudeCall, claudeLogs } from "../../support/otlp.ts";

/** What others do, in this process or another, between two steps of an erasure. */

/** Does something right before a step is stored that was made ready already. @param isTime asked before each, until it was so `times` times */
function meanwhile({ instance: { core } }: TestInstance, isTime: () => boolean, act: () => unknown, times = 1): void {
  const write = core.store.write.bind(core.store);
  let left = times;
  core.store.write = async (change, payer) => {
    if (left > 0 && isTime()) {
      left--;
      await act();
    }
    return write(change, payer);
  };
}

/** Whether what was made of a session is erased, and the session is not. */
const isHalfGone = (t: TestInstance, id: number) =>
  t.rows("SELECT 1 FROM trace_sessions s WHERE id = ? AND id NOT IN (SELECT session_id FROM trace_session_windows)", id)
    .length === 1 && t.rows("SELECT 1 FROM session_figures WHERE session_id = ?", id).length === 0;

it("leaves nothing that others make of a session, which they read before it went", async () => {
  const { t, device: mine } = await startWithDevice();
  await deliverAll(t, mine, "shop", "marigold");
  const [{ id }] = t.rows("SELECT id FROM trace_sessions");
  const tables = ["trace_session_windows", "causal_links", "session_figures"];
  const stored = tables.map((table) => [table, t.rows(`SELECT * FROM ${table} WHERE session_id = ?`, id)] as const);
  expect(stored.map(([, rows]) => rows.length)).toEqual([1, 1, 1]);
  meanwhile(
    t,
    () => isHalfGone(t, id),
    () => {
      for (const [table, rows] of stored)
        for (const row of rows)
          t.instance.core.store.db
            .prepare(`INSERT OR REPLACE INTO ${table} VALUES (${Object.keys(row).fill("?")})`)
            .run(...Object.values(row));
    },
  );
  expect(await eraseNow(t.instance.core, { session: "marigold-s1" })).toMatchObject({ sessions: 1, links: 2 });
  for (const table of tables) expect(t.rows(`SELECT * FROM ${table} WHERE session_id = ?`, id), table).toEqual([]);
  expect(t.count("trace_sessions")).toBe(0);
});

it("lists what an exporter tells of a session from while the session itself is erased", async () => {
  const { t, device: mine } = await startWithDevice();
  const exporter = await t.device(mine.team);
  await deliverAll(t, mine, "shop", "marigold");
  const [{ id }] = t.rows("SELECT id FROM trace_sessions");
  meanwhile(
    t,
    () => isHalfGone(t, id),
    async () => {
      const about = { "session.id": "marigold-s1" };
      const json = claudeLogs(["user_prompt", { ...about, prompt: "lavender" }], claudeCall("req_1", about));
      expect((await t.post("/v1/logs", { token: exporter.token, json })).status).toBe(200);
      await t.instance.settle();
    },
  );
  await eraseNow(t.instance.core, { session: "marigold-s1", device: mine.deviceId });
  await t.instance.settle();
  const sessions = t.rows("SELECT id, device_id, exported FROM trace_sessions");
  expect(sessions).toMatchObject([{ device_id: exporter.deviceId, exported: 1 }]);
  expect(t.rows("SELECT session_id AS id, title, tokens FROM session_figures")).toEqual([
    { id: sessions[0].id, title: "lavender", tokens: 3340 },
  ]);
});

it("makes a repository's entries those of its newest brain, though others read that while older brains are erased", async () => {
  const { t, device: mine } = await startWithDevice();
  const [other, third] = [await t.device(mine.team), await t.device(mine.team)];
  const send = async ({ token }: { token: string }, version: number, ...titles: string[]) => {
    const content = titles.map((title) => `## 2026-11-20 ${title}\n\nIt broke.\n`).join("\n");
    const json = { repoKey: "shop", version, files: [{ path: ".claude/brain/errors.md", content }] };
    expect((await t.post("/api/brain/ingest", { token, json })).status).toBe(200);
    await t.instance.settle();
  };
  await send(other, 1, "Login loop", "Totals off");
  await send(mine, 1, "Marigold", "Totals off");
  let version = 0;
  meanwhile(
    t,
    () =>
      t.rows(
        "SELECT 1 FROM brain_snapshots n JOIN brain_streams s ON s.id = n.stream_id WHERE device_id = ?",
        mine.deviceId,
      ).length === 0,
    () => send(third, ++version, "Login loop", `Lavender ${version}`),
    3,
  );
  await eraseNow(t.instance.core, { device: mine.deviceId });
  await t.instance.settle();
  expect(t.rows("SELECT title FROM defects ORDER BY title")).toEqual([
    { title: "Lavender 3" },
    { title: "Login loop" },
  ]);
});

it("tells once that an erasure is done that two processes carried out", async () => {
  const { t, core, device } = await startWithDevice();
  await deliverAll(t, device, "shop", "marigold");
  const ask = (repo: string) => requestErasure(core, resolveTarget(core, { repo }), "they wanted it", COMMAND_LINE);
  const [first, second] = [await ask("shop"), await ask("till")];
  // As a server that starts beside the commands which took them: it comes to the second once that is done.
  await Promise.all([resumeErasures(core), carryOut(core, first), carryOut(core, second)]);
  const done = t.rows("SELECT target_id AS id FROM audit_events WHERE action = 'erasure.completed'");
  expect(done.map(({ id }) => id).sort()).toEqual([first.id, second.id].sort());
});

it("leaves the spend of a session that came again the session's, once another erasure is through with the former one", async () => {
  const { t, core, device } = await startWithDevice();
  await deliverAll(t, device, "shop", "marigold");
  const named = () => t.rows("SELECT session, session_branch AS branch FROM spend_cells WHERE usages > 0");
  const before = named();
  expect(before).toContainEqual({ session: "marigold-s1", branch: "marigold-branch" });
  const [{ id, teamId }] = t.rows("SELECT id, team_id AS teamId FROM trace_sessions");
  await eraseNow(core, { session: "marigold-s1" });
  await deliverAll(t, device, "shop", "marigold");
  const { deviceId } = device;
  // As the other erasure does, which had found the session before.
  for (const step of spendErasure.eraseSessionSpend(core, { id, teamId, deviceId, externalId: "marigold-s1" }))
    await core.store.write(step);
  expect(named()).toContainEqual({ session: "marigold-s1", branch: "marigold-branch" });
});

it("erases what comes of a machine that a person connects as their erasure begins", async () => {
  const { t, core, device } = await startWithDevice();
  const ada = await personWith(t, device, "ada@example.com");
  const { code } = await createCode(core, device.team.id, COMMAND_LINE, undefined, ada.id);
  const target = resolveTarget(core, { person: "ada@example.com" });
  const asked = await requestErasure(core, target, "they wanted it", COMMAND_LINE);
  meanwhile(
    t,
    () => true,
    async () => {
      const { deviceId, deviceToken: token } = await bindDevice(core, code, "1", null);
      await deliverAll(t, { ...device, deviceId, token }, "shop", "marigold");
    },
  );
  expect(await carryOut(core, asked)).toMatchObject({ devices: 2, entries: 3, sessions: 1, snapshots: 1 });
  expect(filesWith(t.directory, "marigold")).toEqual([]);
  expect(ledgerFaults(core)).toEqual([]);
});
