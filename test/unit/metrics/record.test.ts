import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { ROOMS } from "../../../src/app.ts";
import { rows as deviceRows } from "../../../src/identity/devices/rows.ts";
import { updateTeam } from "../../../src/identity/teams/teams.ts";
import { rows as defectRows } from "../../../src/insight/defects/rows.ts";
import { newestDelivery } from "../../../src/log/log.ts";
import { rows as logRows } from "../../../src/log/rows.ts";
import { COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import { metricsText } from "../../../src/platform/metrics/listener.ts";
import { recordFailure, runProjections } from "../../../src/platform/projections/projections.ts";
import { figureRows } from "../../../src/record/telemetry/figure-rows.ts";
import { sealedRows } from "../../../src/record/telemetry/sealed-rows.ts";
import { setRetention } from "../../../src/share/erasure/erasure.ts";
import { runRetention } from "../../../src/share/erasure/nightly.ts";
import { rows as erasureRows } from "../../../src/share/erasure/rows.ts";
import { backup } from "../../../src/share/maintenance/maintenance.ts";
import { newFolder } from "../../support/folder.ts";
import { freePort } from "../../support/free-port.ts";
import { startInstance, startWithDevice, startWithTeam, type TestInstance } from "../../support/instance.ts";
import { leaveFailing } from "../../support/jobs.ts";

const METRICS = ROOMS.flatMap(({ metrics = [] }) => metrics);
const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];

/** What a scrape holds, by series as they are written. */
async function scrape({ instance }: TestInstance): Promise<Record<string, number>> {
  const text = await metricsText(instance.core, METRICS);
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return Object.fromEntries(lines.map((line) => [line.replace(/ \S+$/, ""), Number(line.split(" ").at(-1))]));
}

/** The same once the values that are kept for a minute have expired. */
function later(t: TestInstance): Promise<Record<string, number>> {
  t.clock.advance(MINUTE);
  return scrape(t);
}

const send = async (t: TestInstance, token: string, entries: object[]) =>
  expect((await t.post("/api/telemetry/ingest", { token, json: { repoKey: "acme/shop", entries } })).status).toBe(200);
const entry = (seq: number, payload: object = { n: seq }) => ({ seq, payload });

it("counts what came, what is missing and what was rewritten, and that a gap was closed", async () => {
  const { t, token } = await startWithDevice();
  expect(await scrape(t)).toMatchObject({
    'reckon_deliveries_total{kind="telemetry"}': 0,
    'reckon_gaps_total{kind="telemetry"}': 0,
    'reckon_rollbacks_total{kind="brain"}': 0,
    reckon_telemetry_gaps: 0,
    reckon_telemetry_entries: 0,
  });
  await send(t, token, [entry(1), entry(5), entry(9)]);
  const seen = {
    'reckon_deliveries_total{kind="telemetry"}': 1,
    'reckon_delivered_items_total{kind="telemetry"}': 3,
    'reckon_gaps_total{kind="telemetry"}': 1,
    'reckon_gaps_total{kind="brain"}': 0,
    'reckon_rollbacks_total{kind="telemetry"}': 0,
    reckon_telemetry_streams: 1,
    reckon_telemetry_entries: 3,
    reckon_telemetry_gaps: 2,
  };
  // The value is kept for a minute, however often it is asked for.
  expect(await scrape(t)).toMatchObject({ reckon_telemetry_gaps: 0 });
  expect(await later(t)).toMatchObject(seen);
  await send(t, token, [entry(5, { n: "another" }), entry(6), entry(7), entry(8)]);
  expect(await later(t)).toMatchObject({
    'reckon_gaps_total{kind="telemetry"}': 1,
    'reckon_rollbacks_total{kind="telemetry"}': 1,
    reckon_telemetry_entries: 6,
    reckon_telemetry_gaps: 1,
  });
});

it("counts devices by when they were heard of, those that cannot report left out", async () => {
  const t = await startInstance();
  const [one, two, gone] = [await t.device(), await t.device(), await t.device()];
  const heard = async () => {
    const seen = await later(t);
    return ["hour", "day", "week", "longer"].map((span) => seen[`reckon_devices{heard="${span}"}`]);
  };
  expect(await heard()).toEqual([3, 0, 0, 0]);
  await t.post("/api/connect/disconnect", { token: gone.token });
  t.clock.advance(HOUR);
  await send(t, one.token, [entry(1)]);
  expect(await heard()).toEqual([1, 1, 0, 0]);
  t.clock.advance(2 * DAY);
  await send(t, one.token, [entry(2)]);
  expect(await heard()).toEqual([1, 0, 1, 0]);
  t.clock.advance(7 * DAY);
  await send(t, two.token, [entry(1)]);
  expect(await heard()).toEqual([1, 0, 0, 1]);
});

it("counts open errors, and sums what was spent today and this month", async () => {
  const { t, token } = await startWithDevice();
  const content =
    "## 2026-11-20 — Double charge\n\nStatus: open\n\n## 2026-11-19 — Lost cart\n\nStatus: fixed\n\n## 2026-11-18 — Late mail\n\nStatus: open\n";
  const brain = { repoKey: "acme/shop", version: 1, files: [{ path: "errors.md", content }] };
  expect((await t.post("/api/brain/ingest", { token, json: brain })).status).toBe(200);
  const reply = (id: string, model: string) => ({
    ...{ type: "reply", sessionId: "s", messageId: id, model },
    usage: { input_tokens: 1_000_000, output_tokens: 1_000 },
  });
  const at = (date: string) => ({ clientTimestamp: `${date}T06:00:00Z` });
  await send(t, token, [
    { ...entry(1, reply("a", "claude-opus-4-6")), ...at("2026-11-21") },
    { ...entry(2, reply("b", "claude-opus-4-6")), ...at("2026-11-02") },
    { ...entry(3, reply("c", "claude-opus-4-6")), ...at("2026-10-31") },
    { ...entry(4, reply("d", "acme-local-70b")), ...at("2026-11-21") },
  ]);
  await t.instance.settle();
  const open = t.rows("SELECT count(*) AS all_, sum(open) AS open FROM defects")[0];
  expect(open).toEqual({ all_: 3, open: 2 });
  expect(await scrape(t)).toMatchObject({
    reckon_error_entries: 3,
    reckon_error_entries_open: 2,
    'reckon_spend_usd{period="today"}': 5.025,
    'reckon_spend_usd{period="month"}': 10.05,
    'reckon_spend_unpriced_tokens{period="today"}': 1_001_000,
  });
});

it("knows the jobs that fail, and the newest backup", async () => {
  const t = await startInstance();
  const { core } = t.instance;
  expect(await scrape(t)).toMatchObject({ reckon_backup_last_success_timestamp_seconds: 0 });
  const tries = await leaveFailing(core);
  const folder = newFolder();
  await backup(core, join(folder, "copy.db"));
  const made = t.clock.now() / 1000;
  const seen = await later(t);
  expect(seen).toMatchObject({
    'reckon_job_tries{job_name="test.interval"}': tries,
    reckon_backup_last_success_timestamp_seconds: made,
  });
  // A failed backup does not count; an unreadable note counts as none.
  await expect(backup(core, join(folder, "copy.db"))).rejects.toThrow("exists already");
  t.clock.advance(DAY);
  expect(await scrape(t)).toMatchObject({ reckon_backup_last_success_timestamp_seconds: made });
  writeFileSync(join(t.directory, "last-backup.json"), "{");
  expect(await scrape(t)).toMatchObject({ reckon_backup_last_success_timestamp_seconds: 0, reckon_figures_unread: 0 });
  // A backup succeeds although it cannot be noted. An unknown time is not reported as "never".
  rmSync(join(t.directory, "last-backup.json"));
  mkdirSync(join(t.directory, "last-backup.json"));
  const { file } = await backup(core, join(folder, "second.db"));
  expect([file, t.log.some((line) => line.includes("backup_not_noted"))]).toEqual([join(folder, "second.db"), true]);
  const unread = await scrape(t);
  expect(unread.reckon_figures_unread).toBe(2);
  expect(Object.keys(unread)).not.toContain("reckon_backup_last_success_timestamp_seconds");
});

it("tells of the log's leaves, paid periods, and the last run of retention", async () => {
  const { t, core, team } = await startWithTeam();
  const before = await scrape(t);
  expect(before.reckon_ledger_leaves).toBe(t.count("log_leaves"));
  expect(before.reckon_ledger_checkpoint_timestamp_seconds).toBeGreaterThan(0);
  expect(before.reckon_signing_key_created_timestamp_seconds).toBe(t.clock.now() / 1000);
  expect(Object.keys(before)).not.toContain("reckon_retention_last_run_timestamp_seconds");
  expect(Object.keys(before)).not.toContain("reckon_paid_period_end_timestamp_seconds");
  const end = t.clock.now() + 10 * DAY;
  await updateTeam(core, team.id, { periodEndAt: end }, COMMAND_LINE);
  await setRetention(core, team.id, "telemetry", 30, COMMAND_LINE);
  await runRetention(core, team.id);
  const ranAt = t.clock.now();
  expect(await later(t)).toMatchObject({
    reckon_teams: 1,
    reckon_paid_period_end_timestamp_seconds: end / 1000,
    reckon_retention_last_run_timestamp_seconds: ranAt / 1000,
    reckon_erasures_unfinished: 0,
    reckon_figures_unread: 0,
  });
  await setRetention(core, team.id, "telemetry", null, COMMAND_LINE);
  expect(Object.keys(await later(t))).not.toContain("reckon_retention_last_run_timestamp_seconds");
});

it("covers the log's leaves with its checkpoint after a while", async () => {
  const { t, token } = await startWithDevice({ withJobs: true });
  await send(t, token, [entry(1)]);
  await expect
    .poll(async () => (await scrape(t)).reckon_ledger_checkpoint_leaves, { timeout: MINUTE })
    .toBe(t.count("log_leaves"));
});

it("tells for how long deliveries wait to be derived, and what was passed over", async () => {
  const { t, core, token } = await startWithDevice();
  await t.instance.settle();
  expect((await scrape(t)).reckon_projection_lag_seconds).toBe(0);
  let broken = true;
  const next = () => {
    if (broken) throw new Error("cannot be read");
    return undefined;
  };
  const stop = runProjections(core, [{ name: "test.broken", next }], newestDelivery);
  onTestFinished(stop);
  await send(t, token, [entry(1)]);
  await expect.poll(() => t.log.some((line) => line.includes("projection_failed")), { timeout: MINUTE }).toBe(true);
  t.clock.advance(90_000);
  expect((await scrape(t)).reckon_projection_lag_seconds).toBe(90);
  broken = false;
  await expect.poll(async () => (await scrape(t)).reckon_projection_lag_seconds, { timeout: MINUTE }).toBe(0);
  await core.store.write(() => recordFailure(core, "test.broken", 1, new Error("poison")));
  expect((await later(t)).reckon_projection_skipped).toBe(1);
});

it("walks no table that grows with what is sent", async () => {
  const t = await startInstance();
  const { store } = t.instance.core;
  const telemetry = figureRows(store);
  const parts = { after: "", now: 0, limit: 1, streamId: 0, seq: 0 };
  const planOf = ({ source }: { source: string }) => {
    const named = /@\w+/.test(source);
    const values = named ? [parts] : Array.from(source.matchAll(/\?/g), () => 1);
    return (store.db.prepare(`EXPLAIN QUERY PLAN ${source}`).all(...values) as { detail: string }[]).map(
      ({ detail }) => detail,
    );
  };
  const bounded = [
    ...[telemetry.gaps.next, telemetry.gaps.rest, telemetry.unsealed.next, telemetry.unsealed.rest],
    ...[telemetry.streamsAfter, sealedRows(store).lastBlock, deviceRows(store).heardAfter, defectRows(store).openAfter],
    ...[logRows(store).totals, erasureRows(store).unfinishedCount],
  ];
  for (const statement of bounded) {
    const plan = planOf(statement as unknown as { source: string });
    // Parentheses hold the part that was selected before; the index of unfinished erasures is short.
    const walks = plan.filter((step) => /^SCAN (?!\(|erasures USING .*erasures_unfinished)|FOR ORDER BY/.test(step));
    expect([plan.length > 0, walks]).toEqual([true, []]);
  }
});

it("counts a part of an index at a time, and all of it", async () => {
  const { t, token } = await startWithDevice();
  await send(t, token, [entry(1)]);
  t.instance.core.store.db.exec(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12001)
     INSERT INTO telemetry_gaps (stream_id, from_seq, to_seq) SELECT (SELECT id FROM telemetry_streams), 2 * i, 2 * i FROM n`,
  );
  expect(await scrape(t)).toMatchObject({ reckon_telemetry_gaps: 12_001, reckon_telemetry_unsealed_segments: 1 });
});

it.each(["127.0.0.1", "[::1]"])("answers on a listener of its own at %s, and in Prometheus' format", async (host) => {
  const port = await freePort();
  const t = await startInstance({ settings: { metrics: `${host}:${port}`, port: "0" } });
  await t.instance.listen();
  const reply = await fetch(`http://${host}:${port}/metrics`);
  expect([reply.status, reply.headers.get("content-type")]).toEqual([200, "text/plain; version=0.0.4"]);
  const text = await reply.text();
  expect(text).toContain('\nreckon_deliveries_total{kind="traces"} 0\n');
  expect(text).toMatch(/^reckon_store_bytes [1-9]\d*$/m);
  expect(text).toMatch(/^reckon_disk_free_bytes [1-9]\d*$/m);
  expect(text).toMatch(/\nreckon_figures_unread 0\n$/);
  expect((await fetch(`http://${host}:${port}/metrics?name=x`)).status).toBe(200);
  for (const path of ["/", "/metrics/", "/x/metrics"]) {
    const other = await fetch(`http://${host}:${port}${path}`);
    expect([path, other.status, await other.text()]).toEqual([path, 404, "The metrics are at /metrics.\n"]);
  }
});
