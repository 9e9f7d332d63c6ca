import { expect, it, vi } from "vitest";
import { DAY_MS } from "../../../src/kit/clock.ts";
import { deliveryErasure } from "../../../src/log/log.ts";
import { COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import { setRetention } from "../../../src/share/erasure/erasure.ts";
import { runRetention } from "../../../src/share/erasure/nightly.ts";
import { deliverAll, eraseNow, filesWith, personWith } from "../../support/erasure.ts";
import { startWithDevice, startWithTeam } from "../../support/instance.ts";
import { processorMs } from "../../support/time.ts";

/** A repository is erased in a team of many machines, of which few have anything of it. */

async function eraseAmong(others: number) {
  const { t, core, team } = await startWithTeam();
  const [one, two, three] = [await t.device(team), await t.device(team), await t.device(team)];
  await deliverAll(t, one, "shop", "marigold");
  await deliverAll(t, two, "shop", "marigold");
  await deliverAll(t, two, "till", "rosemary");
  const at = new Date(t.clock.now()).toISOString();
  const pulse = { repoKey: "shop", at, counts: { errors: 1 }, fingerprints: [] };
  const pulsed = await t.post("/api/brain-pulse/ingest", { token: three.token, json: pulse });
  const insert = core.store.db.prepare(
    "INSERT INTO devices (id, team_id, consent_version, created_at) VALUES (?, ?, '1', 1)",
  );
  await core.store.write(() => {
    for (let i = 0; i < others; i++) insert.run(`dev_${i}`, team.id);
  });
  const before = core.store.stats.transactions;
  const counts = await eraseNow(core, { repo: "shop" });
  return { t, pulsed, counts, transactions: core.store.stats.transactions - before };
}

it("takes no longer for devices that sent nothing of it, and finds one that reported it by a pulse alone", async () => {
  const few = await eraseAmong(0);
  const others = 300;
  const many = await eraseAmong(others);
  expect(many.pulsed.status).toBe(200);
  expect(many.t.rows("SELECT repo_key FROM brain_pulses")).toEqual([]);
  expect(filesWith(many.t.directory, "marigold")).toEqual([]);
  expect(filesWith(many.t.directory, "rosemary")).not.toEqual([]);
  expect(many.counts).toEqual(few.counts);
  // Less than one transaction for each: how many steps share one depends on the time they take.
  expect(many.transactions).toBeLessThan(few.transactions + others);
});

it("takes few transactions for a person's machines that sent nothing", async () => {
  const { t, core, team } = await startWithTeam();
  const device = await t.device(team);
  await deliverAll(t, device, "shop", "marigold");
  const person = await personWith(t, device, "ann@example.com");
  const many = 300;
  const insert = core.store.db.prepare(
    "INSERT INTO devices (id, team_id, label, consent_version, created_at, person_id) VALUES (?, ?, 'marigold', '1', 1, ?)",
  );
  await core.store.write(() => {
    for (let i = 0; i < many; i++) insert.run(`dev_${i}`, team.id, person.id);
  });
  const before = core.store.stats.transactions;
  await eraseNow(core, { person: "ann@example.com" });
  expect(filesWith(t.directory, "marigold")).toEqual([]);
  expect(t.rows("SELECT count(*) AS n FROM devices WHERE revoked_at IS NOT NULL")).toEqual([{ n: many + 1 }]);
  expect(core.store.stats.transactions - before).toBeLessThan(many);
});

/** @returns processor time that a night takes, and which deliveries of sessions it marked */
async function nightAmong(others: number) {
  const { t, core, device } = await startWithDevice();
  await deliverAll(t, device, "shop", "marigold");
  await t.instance.settle();
  const { db } = core.store;
  const columns = t.rows("SELECT name FROM pragma_table_info('deliveries') WHERE name <> 'id'").map(({ name }) => name);
  db.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
    INSERT INTO deliveries (id, ${columns}) SELECT i + 1000, ${columns} FROM n, deliveries WHERE id = (SELECT min(id) FROM deliveries WHERE kind = 'telemetry')`);
  db.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${others})
    INSERT INTO devices (id, team_id, consent_version, created_at) SELECT 'dev_' || i, '${device.team.id}', '1', 1 FROM n`);
  await setRetention(core, device.team.id, "traces", 5, COMMAND_LINE);
  t.clock.advance(8 * DAY_MS);
  return {
    taken: await processorMs(() => runRetention(core, device.team.id)),
    marked: t.rows("SELECT count(*) AS n FROM deliveries WHERE kind = 'traces' AND erased_items = items"),
    left: t.rows("SELECT count(*) AS n FROM deliveries WHERE kind = 'traces' AND erased_by IS NULL"),
  };
}

it("a night looks through a team's deliveries once, not once for each of its machines", async () => {
  const few = await nightAmong(6);
  const { taken, marked, left } = await nightAmong(600);
  expect(marked).not.toEqual([{ n: 0 }]);
  expect(left).toEqual([{ n: 0 }]);
  // Once for each machine took more than four seconds.
  expect(taken).toBeLessThan(4 * few.taken);
});

it("a night lets others in while it looks at machines of which nothing ran out", async () => {
  const { t, core, team } = await startWithDevice();
  const many = 500;
  core.store.db.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${many})
    INSERT INTO devices (id, team_id, consent_version, created_at) SELECT 'dev_' || i, '${team.id}', '1', 1 FROM n`);
  // With this clock every piece of work takes long enough to let others in.
  let now = t.clock.monotonic();
  vi.spyOn(t.clock, "monotonic").mockImplementation(() => (now += 10));
  for (const kind of ["telemetry", "traces"] as const) {
    await setRetention(core, team.id, kind, 5, COMMAND_LINE);
    let turns = 0;
    const count = () => {
      turns++;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    await runRetention(core, team.id);
    clearImmediate(counting);
    await setRetention(core, team.id, kind, null, COMMAND_LINE);
    expect([kind, turns > many]).toEqual([kind, true]);
  }
});

it("a night handles more machines than a call may have arguments", async () => {
  const { t, core, deviceId, team, token } = await startWithDevice();
  const json = { repoKey: "shop", sessions: [{ id: "s1", outcome: "ok", spans: [] }] };
  expect((await t.post("/api/agent-traces/ingest", { token, json })).status).toBe(200);
  const of = { teamId: team.id, repoKey: null, until: t.clock.now(), through: 1_000, erasureId: "era_1" };
  const portions = Array.from({ length: 300_000 }, (_, i) => ({ ...of, deviceId: `dev_${i}` }));
  const found = [...deliveryErasure.unerasedDeliveries(core, "traces", [...portions, { ...of, deviceId }])].flat();
  expect(found.map(({ portion }) => portion.deviceId)).toEqual([deviceId]);
});

it("a night finds that no event is old without reading all of the team's events", async () => {
  const { t, core, team } = await startWithTeam();
  core.store.db.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600000)
    INSERT INTO audit_events (at, team_id, actor_kind, actor_label, action, detail)
    SELECT ${t.clock.now()}, '${team.id}', 'user', 'ann', 'session.created', '{}' FROM n`);
  await setRetention(core, team.id, "audit", 5, COMMAND_LINE);
  // The best of several. The first reads into memory what the others find there, which alone takes half of the bound.
  const nights: number[] = [];
  for (let i = 0; i < 4; i++) {
    const before = process.threadCpuUsage();
    await runRetention(core, team.id);
    const { user, system } = process.threadCpuUsage(before);
    nights.push((user + system) / 1_000);
  }
  // Such nights share two rows.
  expect(t.rows("SELECT counts, completed_at IS NOT NULL AS done FROM erasures")).toEqual(
    Array(2).fill({ counts: "{}", done: 1 }),
  );
  // Reading all events takes more than a hundred.
  expect(Math.min(...nights)).toBeLessThan(60);
});
