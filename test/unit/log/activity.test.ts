import { describe, expect, it } from "vitest";
import { DAY_MS } from "../../../src/kit/clock.ts";
import { activity, recentFlags, timedWalk } from "../../../src/log/log.ts";
import {
  startInstance,
  startWithDevice,
  startWithTeam,
  type TestDevice,
  type TestInstance,
} from "../../support/instance.ts";

const entries = (t: TestInstance, { token }: TestDevice, seqs: number[], more = {}) =>
  t.post("/api/telemetry/ingest", {
    token,
    json: { repoKey: "shop", entries: seqs.map((seq) => ({ seq, payload: { seq, ...more } })) },
  });
const snapshot = (t: TestInstance, { token }: TestDevice, version: number, content: string) =>
  t.post("/api/brain/ingest", { token, json: { version, repoKey: "shop", files: [{ path: "a.md", content }] } });
const sessions = (t: TestInstance, { token }: TestDevice, ...ids: string[]) =>
  t.post("/api/agent-traces/ingest", {
    token,
    json: { sessions: ids.map((id) => ({ id, outcome: "success", spans: [] })) },
  });

/** What the days should hold, counted from the deliveries themselves. */
const recount = (t: TestInstance) =>
  t.rows(
    `SELECT team_id, kind, received_at / 86400000 AS day, count(*) AS deliveries, sum(items) AS items,
       sum(flagged IS 'gap') AS gaps, sum(flagged IS 'rollback') AS rollbacks FROM deliveries GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
  );
const days = (t: TestInstance) => t.rows("SELECT * FROM delivery_days ORDER BY team_id, kind, day");

describe("activity", () => {
  it("counts deliveries by UTC day, days without any included, for one team only", async () => {
    const t = await startInstance();
    const [device, other] = [await t.device(), await t.device()];
    const today = Math.floor(t.clock.now() / DAY_MS);
    await entries(t, device, [1, 2, 3]);
    await entries(t, device, [5, 6]);
    await entries(t, device, [2], { changed: true });
    await snapshot(t, device, 1, "a");
    await sessions(t, device, "s-1", "s-2");
    await entries(t, other, [1]);
    t.clock.advance(2 * DAY_MS);
    await snapshot(t, device, 3, "b");
    await snapshot(t, device, 2, "c");
    const none = { entries: 0, snapshots: 0, sessions: 0, gaps: 0, rollbacks: 0 };
    expect(activity(t.instance.core, device.team.id, today - 1, today + 2)).toEqual([
      { day: today - 1, ...none },
      { day: today, entries: 6, snapshots: 1, sessions: 2, gaps: 1, rollbacks: 1 },
      { day: today + 1, ...none },
      { day: today + 2, ...none, snapshots: 2, gaps: 1, rollbacks: 1 },
    ]);
    expect(activity(t.instance.core, other.team.id, today, today)).toMatchObject([{ entries: 1 }]);
    expect(days(t)).toEqual(recount(t));
  });

  it("stays the same when a delivery changes nothing", async () => {
    const { t, device } = await startWithDevice();
    await sessions(t, device, "s-1");
    const before = days(t);
    expect(before).toMatchObject([{ deliveries: 1, items: 1 }]);
    await sessions(t, device, "s-1");
    expect(days(t)).toEqual(before);
    t.clock.advance(DAY_MS);
    await sessions(t, device, "s-1");
    expect(days(t)).toEqual(before);
    expect(days(t)).toEqual(recount(t));
  });

  it("gives no days for a span that ends before it begins, and ten years at most", async () => {
    const { t, team } = await startWithTeam();
    expect(activity(t.instance.core, team.id, 10, 9)).toEqual([]);
    expect(activity(t.instance.core, team.id, Number.NaN, 9)).toEqual([]);
    const most = activity(t.instance.core, team.id, 0, 20_000);
    expect(most).toHaveLength(3_660);
    expect(most.at(-1)?.day).toBe(20_000);
  });
});

describe("recentFlags", () => {
  it("names a team's newest flagged deliveries, found by the index of flagged ones alone", async () => {
    const t = await startInstance();
    const [device, other] = [await t.device(), await t.device()];
    await entries(t, device, [1]);
    await entries(t, device, [4]);
    t.clock.advance(1_000);
    await entries(t, device, [1], { changed: true });
    await entries(t, other, [1]);
    await entries(t, other, [9]);
    const { core } = t.instance;
    expect(recentFlags(core, device.team.id, 10)).toMatchObject([
      { flagged: "rollback", kind: "telemetry", repoKey: "shop", deviceId: device.deviceId, at: t.clock.now() },
      { flagged: "gap", deviceLabel: null },
    ]);
    expect([true, false].map((of) => recentFlags(core, device.team.id, 10, of).length)).toEqual([2, 0]);
    expect(recentFlags(core, device.team.id, 1)).toHaveLength(1);
    const plan = t.rows(
      "EXPLAIN QUERY PLAN SELECT id FROM deliveries WHERE team_id = 'x' AND flagged IS NOT NULL ORDER BY id DESC LIMIT 5",
    );
    expect(plan.map((row) => row.detail).join()).toContain("deliveries_flagged");
  });
});

it("knows a team's last delivery up to an instant, however many came in the hours around it", async () => {
  const { t, core, device } = await startWithDevice();
  await entries(t, device, [1]);
  const then = t.clock.now();
  t.clock.advance(60_000);
  const columns = t.rows("SELECT name FROM pragma_table_info('deliveries') WHERE name <> 'id'").map(({ name }) => name);
  core.store.db.exec(`WITH RECURSIVE n (i) AS (SELECT 1001 UNION ALL SELECT i + 1 FROM n WHERE i < 2002)
    INSERT INTO deliveries (id, ${columns}) SELECT i, ${columns} FROM n, deliveries;
    UPDATE deliveries SET received_at = ${t.clock.now()} WHERE id > 2000`);
  expect(await timedWalk.lastUpTo(core, device.team.id, then)).toBe(2_000);
});
