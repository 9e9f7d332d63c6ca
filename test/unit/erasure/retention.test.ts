import { expect, it, vi } from "vitest";
import { deviceIdsOf } from "../../../src/identity/devices/devices.ts";
import { setRole } from "../../../src/identity/members/members.ts";
import { createReadToken } from "../../../src/identity/read-tokens/read-tokens.ts";
import { MAX_ERASED_ROWS } from "../../../src/kit/erase-steps.ts";
import { COMMAND_LINE, recordEvent } from "../../../src/platform/audit/audit.ts";
import { eraseRows } from "../../../src/record/traces/erase-rows.ts";
import {
  carryOut,
  placeHold,
  releaseHold,
  requestErasure,
  resolveTarget,
  setRetention,
} from "../../../src/share/erasure/erasure.ts";
import { retentionJob, runRetention } from "../../../src/share/erasure/nightly.ts";
import { examine, verifyLedger } from "../../../src/share/maintenance/maintenance.ts";
import { deliverAll, filesWith, personWith } from "../../support/erasure.ts";
import { startInstance, startWithDevice, type TestDevice, type TestInstance } from "../../support/instance.ts";
import { ledgerFaults } from "../../support/ledger-faults.ts";
import { stopTime } from "../../support/time.ts";

const DAY = 86_400_000;
const faults = (t: TestInstance) => ledgerFaults(t.instance.core);
const finding = async (t: TestInstance) => (await examine(t.instance.core)).find(({ check }) => check === "retention");

/** A device that delivered some time ago, and now. */
async function twice() {
  const t = await startInstance();
  const device = await t.device(await t.team({ name: "Acme" }));
  await deliverAll(t, device, "shop", "marigold");
  t.clock.advance(60 * DAY);
  await deliverAll(t, device, "shop", "lavender", 10);
  const keep = async (days: number) => {
    for (const kind of ["telemetry", "brain", "traces", "audit"] as const)
      await setRetention(t.instance.core, "Acme", kind, days, COMMAND_LINE);
  };
  const night = async () => {
    t.clock.advance(DAY);
    await retentionJob.run(t.instance.core);
  };
  return { t, device, keep, night };
}

it("removes what is older than its days, once a day, and keeps the sums of spend", async () => {
  const { t, keep, night } = await twice();
  const before = t.rows("SELECT sum(usages) AS usages FROM spend_cells");
  await night();
  expect(filesWith(t.directory, "marigold telemetry")).not.toEqual([]);
  await keep(30);
  await night();
  for (const text of ["marigold telemetry", "marigold brain", "marigold prompt", "marigold loose", "src/marigold.ts"])
    expect([text, filesWith(t.directory, text)]).toEqual([text, []]);
  expect(filesWith(t.directory, "lavender telemetry")).toEqual(["reckon.db"]);
  expect(t.rows("SELECT sum(usages) AS usages FROM spend_cells")).toEqual(before);
  expect(t.rows("SELECT count(*) AS n FROM audit_events WHERE at < ?", t.clock.now() - 30 * DAY)).toEqual([{ n: 0 }]);
  expect(faults(t)).toEqual([]);
  const runs = () =>
    t.rows("SELECT team_id IS NOT NULL AS team, counts, completed_at IS NOT NULL AS done FROM erasures");
  expect(runs()).toMatchObject([{ team: 1, done: 1 }]);
  expect(JSON.parse(runs()[0].counts)).toMatchObject({ entries: 3, sessions: 1, snapshots: 1, labels: 2 });
  await retentionJob.run(t.instance.core);
  expect(runs()).toHaveLength(1);
  await night();
  expect(runs()).toHaveLength(2);
  expect(await finding(t)).toMatchObject({ status: "ok" });
  t.clock.advance(3 * DAY);
  expect(await finding(t)).toMatchObject({ status: "warning" });
});

it("continues once a clock that was ahead is right again, and reports that run alone", async () => {
  const { t, keep, night } = await twice();
  await keep(365);
  t.clock.advance(100 * DAY);
  await retentionJob.run(t.instance.core);
  t.clock.advance(-100 * DAY);
  await keep(30);
  await night();
  expect(filesWith(t.directory, "marigold telemetry")).toEqual([]);
  expect(filesWith(t.directory, "lavender telemetry")).toEqual(["reckon.db"]);
  const runs = () => t.rows("SELECT completed_at AS at FROM erasures ORDER BY rowid");
  expect(runs()[1]).toEqual({ at: t.clock.now() });
  await retentionJob.run(t.instance.core);
  expect(runs()).toHaveLength(2);
  expect(await finding(t)).toMatchObject({ status: "ok" });
  expect(faults(t)).toEqual([]);
  t.clock.advance(3 * DAY);
  expect(await finding(t)).toMatchObject({ status: "warning" });
});

it("lets go of all old events of a night, though one among them was dated by a clock that was ahead", async () => {
  const t = await startInstance();
  const { core } = t.instance;
  const { id: teamId } = await t.team({ name: "Acme" });
  const record = (times: number) =>
    core.store.write(() => {
      for (let i = 0; i < times; i++) recordEvent(core, COMMAND_LINE, { action: "policy.changed", teamId });
    });
  const [{ n }] = t.rows("SELECT count(*) AS n FROM audit_events WHERE team_id = ?", teamId);
  await record(MAX_ERASED_ROWS - 1 - n);
  t.clock.jump(1_000 * DAY);
  await record(1);
  t.clock.jump(-1_000 * DAY);
  await record(1);
  await setRetention(core, "Acme", "audit", 30, COMMAND_LINE);
  // Another job may have seen the clock while it was ahead.
  for (const time of [60 * DAY, DAY / 24]) {
    t.clock.advance(time);
    await retentionJob.run(core);
  }
  expect(t.rows("SELECT DISTINCT action FROM audit_events WHERE team_id = ?", teamId)).not.toContainEqual({
    action: "policy.changed",
  });
  expect(faults(t)).toEqual([]);
});

it("removes nothing by a clock that is a year ahead for a while, and catches up with one that stays ahead", async () => {
  const { t, keep, night } = await twice();
  await keep(100);
  await night();
  const looks = async (minutes: number) => {
    for (let i = 0; i < minutes; i++) {
      t.clock.advance(60_000);
      await retentionJob.run(t.instance.core);
    }
  };
  const all = () =>
    ["marigold telemetry", "lavender telemetry"].filter((text) => filesWith(t.directory, text).length > 0);
  t.clock.jump(365 * DAY);
  await looks(30);
  t.clock.jump(-365 * DAY);
  await looks(30);
  expect(all()).toEqual(["marigold telemetry", "lavender telemetry"]);
  expect(t.count("trace_sessions")).toBe(2);
  t.clock.jump(60 * DAY);
  await looks(61);
  expect(all()).toEqual(["lavender telemetry"]);
  expect(faults(t)).toEqual([]);
});

it("keeps what came while the clock was years behind as long as what came around it", async () => {
  const { t, device, keep, night } = await twice();
  await keep(100);
  t.clock.jump(-2_000 * DAY);
  await deliverAll(t, device, "till", "crocus", 20);
  t.clock.jump(2_000 * DAY);
  await night();
  const stays = () =>
    filesWith(t.directory, "crocus telemetry").length > 0 && filesWith(t.directory, "crocus prompt").length > 0;
  expect(stays()).toBe(true);
  t.clock.advance(100 * DAY);
  await night();
  expect([stays(), t.count("trace_sessions")]).toEqual([false, 0]);
  expect(faults(t)).toEqual([]);
});

it.each([
  ["run out", async (t: TestInstance) => void (await retentionJob.run(t.instance.core))],
  [
    "are erased one by one",
    async ({ instance: { core } }: TestInstance) =>
      void (await carryOut(
        core,
        await requestErasure(core, resolveTarget(core, { entry: "1" }), "asked for", COMMAND_LINE),
      )),
  ],
])("counts entries that were not derived yet before they %s", async (_, letGo) => {
  const t = await startInstance();
  const { token } = await t.device(await t.team({ name: "Acme" }));
  const entries = [{ seq: 1, payload: { usage: { input_tokens: 100, output_tokens: 1 } } }];
  expect((await t.post("/api/telemetry/ingest", { token, json: { entries } })).status).toBe(200);
  await setRetention(t.instance.core, "Acme", "telemetry", 30, COMMAND_LINE);
  t.clock.advance(60 * DAY);
  await letGo(t);
  await t.instance.settle();
  expect(t.rows("SELECT erased_items AS erased FROM deliveries")).toEqual([{ erased: 1 }]);
  expect(t.rows("SELECT input FROM spend_cells")).toEqual([{ input: 100 }]);
});

it("keeps the row of a delivery of which nothing is left, also when parts of it ran out earlier", async () => {
  const t = await startInstance();
  const { core } = t.instance;
  const { token } = await t.device(await t.team({ name: "Acme" }));
  const deliver = async (...texts: readonly (readonly [number, string])[]) => {
    const entries = texts.map(([seq, text]) => ({ seq, payload: { type: "prompt", text } }));
    const answer = await t.post("/api/telemetry/ingest", { token, json: { repoKey: "shop", entries } });
    expect(answer.status).toBe(200);
    return answer.body;
  };
  await deliver([1, "one"], [2, "two"], [3, "three"]);
  await deliver([3, "another three"]);
  await carryOut(core, await requestErasure(core, resolveTarget(core, { entry: "1" }), "asked", COMMAND_LINE));
  const noted = () => [
    t.count("delivery_items"),
    t.rows("SELECT item_key IS NOT NULL AS hasKey, length(item_salts) > 0 AS hasSalts FROM deliveries ORDER BY id"),
  ];
  expect(noted()).toEqual([
    1,
    [
      { hasKey: 0, hasSalts: 1 },
      { hasKey: 1, hasSalts: null },
    ],
  ]);
  t.clock.advance(60 * DAY);
  await setRetention(core, "Acme", "telemetry", 30, COMMAND_LINE);
  await retentionJob.run(core);
  expect(noted()).toEqual([0, Array(2).fill({ hasKey: 0, hasSalts: null })]);
  expect(verifyLedger(core, undefined, () => {})).toMatchObject({ erased: 2, faults: [] });
  expect(await deliver([1, "one"], [3, "three"])).toMatchObject({ accepted: 0, maxSeq: 3 });
});

it("keeps the current brain of a repository, however old", async () => {
  const { t, device, keep, night } = await twice();
  await deliverAll(t, device, "till", "crocus");
  t.clock.advance(20 * DAY);
  await keep(10);
  await night();
  expect(t.rows("SELECT repo_key FROM brain_snapshots ORDER BY 1")).toEqual([
    { repo_key: "shop" },
    { repo_key: "till" },
  ]);
  expect(t.count("trace_sessions")).toBe(0);
  expect(faults(t)).toEqual([]);
  await deliverAll(t, device, "till", "tulip", 10);
  expect(t.rows("SELECT title FROM defects WHERE repo_key = 'till'")).toMatchObject([{ title: "tulip loop" }]);
});

it("gives way to holds, and goes on once they are released", async () => {
  const { t, device, keep, night } = await twice();
  const { core } = t.instance;
  await keep(30);
  const stays = (text: string) => filesWith(t.directory, text).length > 0;
  const everything = await placeHold(core, { team: "Acme", reason: "a claim" }, COMMAND_LINE);
  await night();
  expect(["marigold telemetry", "marigold brain", "marigold prompt"].map(stays)).toEqual([true, true, true]);
  await releaseHold(core, everything.id, COMMAND_LINE);
  const one = await placeHold(core, { session: "marigold-s1", reason: "a claim" }, COMMAND_LINE);
  await deliverAll(t, device, "shop", "dahlia", 20);
  t.clock.advance(60 * DAY);
  await night();
  expect(["marigold telemetry", "marigold prompt", "lavender prompt", "dahlia prompt"].map(stays)).toEqual([
    true,
    true,
    false,
    false,
  ]);
  await releaseHold(core, one.id, COMMAND_LINE);
  await night();
  expect(["marigold telemetry", "marigold prompt", "marigold-s1"].map(stays)).toEqual([false, false, true]);
  expect(faults(t)).toEqual([]);
});

it("keeps no row of every night on which nothing ran out", async () => {
  const { t, keep, night } = await twice();
  await keep(3_000);
  for (let i = 0; i < 5; i++) await night();
  expect(t.rows("SELECT counts, completed_at AS at FROM erasures ORDER BY completed_at")).toEqual([
    { counts: "{}", at: t.clock.now() - DAY },
    { counts: "{}", at: t.clock.now() },
  ]);
  expect(t.rows("SELECT * FROM audit_events WHERE action LIKE 'retention.%' AND action <> 'retention.set'")).toEqual(
    [],
  );
  await keep(30);
  await night();
  const [went] = t.rows("SELECT id, counts FROM erasures WHERE counts <> '{}'");
  expect(JSON.parse(went.counts)).toMatchObject({ entries: 3, sessions: 1 });
  for (let i = 0; i < 4; i++) await night();
  expect(t.rows("SELECT id, counts FROM erasures WHERE counts <> '{}'")).toEqual([went]);
  expect(t.count("erasures")).toBe(3);
  expect(await finding(t)).toMatchObject({ status: "ok" });
  expect(faults(t)).toEqual([]);
});

it("finishes an interrupted night, although everything is kept for ever since", async () => {
  const { t, device, night } = await twice();
  const { core } = t.instance;
  await setRetention(core, "Acme", "telemetry", 30, COMMAND_LINE);
  const { write } = core.store;
  let writes = 0;
  const cut = vi.spyOn(core.store, "write").mockImplementation((...all) => {
    // The server's other jobs write at times of their own, so only erasure's writes count.
    if (new Error().stack?.includes("/share/erasure/") && ++writes > 2) throw new Error("cut short");
    return write.apply(core.store, all);
  });
  await expect(night()).rejects.toThrow("cut short");
  cut.mockRestore();
  const runs = () => t.rows("SELECT counts, completed_at IS NOT NULL AS done FROM erasures");
  expect(runs()).toEqual([{ counts: '{"entries":3}', done: 0 }]);
  await setRetention(core, "Acme", "telemetry", null, COMMAND_LINE);
  await night();
  await night();
  expect(runs()).toEqual([{ counts: '{"entries":3}', done: 1 }]);
  const told = t.rows(
    "SELECT action, detail FROM audit_events WHERE action LIKE 'retention.%' AND team_id = ?",
    device.team.id,
  );
  expect(told.map(({ action }) => action)).toEqual([
    "retention.set",
    "retention.begun",
    "retention.set",
    "retention.run",
  ]);
  expect(JSON.parse(told.at(-1).detail)).toMatchObject({ reason: "telemetry 30 days", counts: { entries: 3 } });
  expect(faults(t)).toEqual([]);
});

it("removes reads and sign-ins once no team of theirs keeps them", async () => {
  const t = await startInstance();
  const acme = await t.device(await t.team({ name: "Acme" }));
  const other = await t.team({ name: "Other" });
  const user = await personWith(t, acme, "ada@example.com");
  await createReadToken(t.instance.core, { userId: user.id, name: "mine" }, COMMAND_LINE);
  t.rows(
    "INSERT INTO web_sessions SELECT 'ses_1', x'01', id, NULL, '192.0.2.1', NULL, ?, ?, ?, NULL, NULL, NULL FROM users RETURNING id",
    ...Array(3).fill(t.clock.now()),
  );
  t.rows(
    "INSERT INTO token_reads (token_id, user_id, at, question, total, shown, ip) SELECT id, user_id, ?, 'marigold', 1, 1, '' FROM read_tokens RETURNING id",
    t.clock.now(),
  );
  await setRole(t.instance.core, other.id, user.email, "member", COMMAND_LINE);
  const keep = async (team: string, days: number) => {
    for (const kind of ["reads", "web-sessions"] as const)
      await setRetention(t.instance.core, team, kind, days, COMMAND_LINE);
    // For other things.
    await setRetention(t.instance.core, team, "telemetry", 1, COMMAND_LINE);
  };
  await keep("Acme", 30);
  t.clock.advance(20 * DAY);
  await keep("Other", 60);
  t.clock.advance(30 * DAY);
  await retentionJob.run(t.instance.core);
  expect([t.count("token_reads"), t.count("web_sessions")]).toEqual([1, 1]);
  const hold = await placeHold(t.instance.core, { team: "Other", reason: "claim" }, COMMAND_LINE);
  t.clock.advance(20 * DAY);
  await retentionJob.run(t.instance.core);
  expect([t.count("token_reads"), t.count("web_sessions")]).toEqual([1, 1]);
  await releaseHold(t.instance.core, hold.id, COMMAND_LINE);
  t.clock.advance(DAY);
  await retentionJob.run(t.instance.core);
  expect([t.count("token_reads"), t.count("web_sessions")]).toEqual([0, 0]);
});

it("still compares what earlier deliveries brought of a session that goes on, and a delivery's other sessions", async () => {
  const t = await startInstance();
  const { token } = await t.device(await t.team({ name: "Acme" }));
  let spans = 0;
  const deliver = async (...ids: string[]) => {
    const sessions = ids.map((id) => ({ id, outcome: "ok", spans: [{ id: `${spans++}`, name: id }] }));
    expect((await t.post("/api/agent-traces/ingest", { token, json: { sessions } })).status).toBe(200);
  };
  await deliver("ends", "goes on");
  await deliver("goes on");
  t.clock.advance(60 * DAY);
  await deliver("goes on");
  await setRetention(t.instance.core, "Acme", "traces", 30, COMMAND_LINE);
  await retentionJob.run(t.instance.core);
  expect(t.rows("SELECT name FROM trace_spans ORDER BY id")).toEqual(Array(3).fill({ name: "goes on" }));
  expect(faults(t)).toEqual([]);
  const deliveries = t.rows("SELECT id FROM deliveries ORDER BY id").map(({ id }) => id);
  t.rows("UPDATE trace_spans SET document = replace(document, 'on', 'up') RETURNING id");
  expect(faults(t).map(({ deliveryId, problem }) => [deliveryId, problem])).toEqual(
    deliveries.map((id) => [id, "content"]),
  );
});

it("removes a session together with a label that came by itself and later", async () => {
  const t = await startInstance();
  const { token } = await t.device(await t.team({ name: "Acme" }));
  const deliver = async (json: object) => {
    expect((await t.post("/api/agent-traces/ingest", { token, json: { sessions: [], ...json } })).status).toBe(200);
  };
  await deliver({ sessions: [{ id: "s", outcome: "ok", spans: [] }] });
  t.clock.advance(60 * DAY);
  await deliver({ labels: [{ sessionId: "s", name: "good" }] });
  await setRetention(t.instance.core, "Acme", "traces", 30, COMMAND_LINE);
  await retentionJob.run(t.instance.core);
  expect([t.count("trace_sessions"), t.count("trace_labels")]).toEqual([0, 0]);
  expect(faults(t)).toEqual([]);
});

it("respects a hold that is placed while it runs, although another is released", async () => {
  const t = await startInstance();
  const { core } = t.instance;
  const team = await t.team({ name: "Acme" });
  const devices: TestDevice[] = [];
  for (let i = 0; i < 4; i++) devices.push(await t.device(team));
  for (const { token, deviceId } of devices) {
    const entries = [{ seq: 1, payload: { text: `of ${deviceId}` } }];
    expect((await t.post("/api/telemetry/ingest", { token, json: { entries } })).status).toBe(200);
  }
  const [first, , , last] = deviceIdsOf(core, { teamId: team.id }) as [string, string, string, string];
  await placeHold(core, { device: first, reason: "a claim" }, COMMAND_LINE);
  await setRetention(core, "Acme", "telemetry", 30, COMMAND_LINE);
  t.clock.advance(60 * DAY);
  const erased = () => t.rows("SELECT 1 FROM deliveries WHERE erased_by IS NOT NULL").length;
  const run = retentionJob.run(core);
  while (erased() === 0) await new Promise((resolve) => setImmediate(resolve));
  t.rows("UPDATE holds SET released_at = 1, released_by = '' RETURNING id");
  t.rows(
    "INSERT INTO holds (id, kind, team_id, device_id, reason, placed_by, placed_at) VALUES ('hold_2', 'device', ?, ?, '', '', 1) RETURNING id",
    ...[team.id, last],
  );
  await run;
  expect(erased()).toBe(1);
  expect(filesWith(t.directory, `of ${last}`)).not.toEqual([]);
});

it("keeps labels without a session while their device, or a session of it, is held", async () => {
  const { t, device, keep, night } = await twice();
  await keep(30);
  const { core } = t.instance;
  for (const held of [{ device: device.deviceId }, { session: "lavender-s10" }]) {
    const hold = await placeHold(core, { ...held, reason: "a claim" }, COMMAND_LINE);
    await night();
    expect(filesWith(t.directory, "marigold loose")).not.toEqual([]);
    await releaseHold(core, hold.id, COMMAND_LINE);
  }
  await night();
  expect(filesWith(t.directory, "marigold loose")).toEqual([]);
  expect(faults(t)).toEqual([]);
});

it("checks whether a night is due, and what was asked for, without reading all nights of all teams", async () => {
  const t = await startInstance();
  const { core } = t.instance;
  const [TEAMS, NIGHTS] = [100, 600];
  for (let i = 0; i < TEAMS; i++) {
    const { id } = await t.team({ name: `Team ${i}` });
    await setRetention(core, id, "audit", 365, COMMAND_LINE);
    core.store.db
      .prepare(
        `WITH RECURSIVE nights (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM nights WHERE n < @nights)
         INSERT INTO erasures (id, kind, team_id, target, reason, requested_by, requested_at, completed_at, reclaimed_at)
         SELECT @id || n, 'retention', @id, '{}', 'audit 365 days', 'server', at, at, at
         FROM (SELECT n, @now - n * ${DAY} AS at FROM nights)`,
      )
      .run({ id, nights: NIGHTS - 1, now: t.clock.now() });
  }
  const before = process.threadCpuUsage();
  await retentionJob.run(core);
  const { user, system } = process.threadCpuUsage(before);
  // Nobody else has a turn meanwhile; a walk for each team takes a second.
  expect((user + system) / 1_000).toBeLessThan(100);
  expect(t.rows("SELECT count(*) AS n FROM erasures")).toEqual([{ n: TEAMS * NIGHTS }]);
  t.clock.advance(DAY);
  await retentionJob.run(core);
  expect(t.rows("SELECT count(*) AS n FROM erasures WHERE requested_at = ?", t.clock.now())).toEqual([{ n: TEAMS }]);
});

it("reads what ran out in earlier nights once, not once a machine, and lets others in meanwhile", async () => {
  const t = await startInstance();
  const { core } = t.instance;
  const [DEVICES, EACH] = [40, 2_500];
  const team = await t.team({ name: "Acme" });
  for (let i = 0; i < DEVICES; i++) {
    const { token } = await t.device(team);
    const entries = [{ seq: 1, payload: { type: "prompt", text: "Fix it" } }];
    for (const [path, json] of [
      ["/api/telemetry/ingest", { entries }],
      ["/api/agent-traces/ingest", { sessions: [{ id: `s${i}`, outcome: "ok", spans: [] }] }],
    ] as const)
      expect((await t.post(path, { token, json: { repoKey: "shop", ...json } })).status).toBe(200);
  }
  t.clock.advance(3 * DAY);
  for (const kind of ["telemetry", "traces"] as const) await setRetention(core, "Acme", kind, 1, COMMAND_LINE);
  await runRetention(core, team.id);
  // As if each of them had come and gone so often.
  const [{ last }] = t.rows("SELECT max(id) AS last FROM deliveries");
  for (const [table, ids] of [
    ["deliveries", ["id", "previous"]],
    ["telemetry_segments", ["first_id", "first_seq", "last_seq", "delivery_id"]],
  ] as const) {
    const { db } = core.store;
    const columns = (db.pragma(`table_info(${table})`) as { name: string }[]).map(({ name }) => name);
    const values = columns.map((name) => (ids.some((id) => id === name) ? `t.${name} + ${last} * n` : `t.${name}`));
    db.exec(`WITH RECURSIVE times (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM times WHERE n < ${EACH})
      INSERT INTO ${table} (${columns}) SELECT ${values} FROM ${table} t, times ORDER BY n`);
  }
  expect(t.count("deliveries")).toBeGreaterThan(2 * DEVICES * EACH);
  // With this clock every piece of work takes long enough to let others in.
  let now = t.clock.monotonic();
  vi.spyOn(t.clock, "monotonic").mockImplementation(() => (now += 10));
  let turns = 0;
  const night = async (kind: "telemetry" | "traces") => {
    await setRetention(core, "Acme", kind === "traces" ? "telemetry" : "traces", null, COMMAND_LINE);
    await setRetention(core, "Acme", kind, 1, COMMAND_LINE);
    t.clock.advance(DAY);
    turns = 0;
    const count = () => {
      turns++;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    const before = process.threadCpuUsage();
    await runRetention(core, team.id);
    const { user, system } = process.threadCpuUsage(before);
    clearImmediate(counting);
    return (user + system) / 1_000;
  };
  // Reading all deliveries for each machine takes more than a second.
  expect(await night("traces")).toBeLessThan(700);
  expect(turns).toBeGreaterThan((2 * DEVICES * EACH) / 10_000);
  await night("telemetry");
  expect(turns).toBeGreaterThan((DEVICES * EACH) / 1_000);
});

it("finds what many machines and people asked in few transactions, and removes all of it", async () => {
  const { t, core, device } = await startWithDevice();
  core.store.db
    .prepare(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
       INSERT INTO devices (id, team_id, consent_version, created_at) SELECT 'dev_' || i, ?, '1', i FROM n`,
    )
    .run(device.team.id);
  core.store.db
    .prepare("INSERT INTO device_reads (device_id, at, tool, total, shown) SELECT id, ?, 'search', 1, 1 FROM devices")
    .run(t.clock.now());
  await setRetention(core, device.team.id, "reads", 5, COMMAND_LINE);
  t.clock.advance(8 * DAY);
  stopTime();
  const before = core.store.stats.transactions;
  await runRetention(core, device.team.id);
  expect(t.rows("SELECT count(*) AS n FROM device_reads")).toEqual([{ n: 0 }]);
  expect(JSON.parse(t.rows("SELECT counts FROM erasures")[0].counts)).toEqual({ reads: 1_001 });
  // Each transaction waits for the disk.
  expect(core.store.stats.transactions - before).toBeLessThan(200);
});

it("reads a machine's labels some thousand at a time, and removes those without a session that are old enough", async () => {
  const { t, device, keep, night } = await twice();
  const { core } = t.instance;
  const [kept] = t.rows("SELECT max(id) AS delivery FROM deliveries WHERE kind = 'traces'");
  const [old] = t.rows("SELECT min(id) AS delivery FROM deliveries WHERE kind = 'traces'");
  const add = (repo: string, session: string | null, delivery: number, count: number) =>
    core.store.db
      .prepare(
        `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < @count)
         INSERT INTO trace_labels (team_id, device_id, repo_key, session_id, document, content_sha256, delivery_id)
         SELECT @team, @device, @repo, @session, '{}', randomblob(32), @delivery FROM n`,
      )
      .run({ team: device.team.id, device: device.deviceId, repo, session, delivery, count });
  add("shop", null, old.delivery, 2_500);
  add("till", "nobody's", old.delivery, 2_500);
  add("shop", null, kept.delivery, 1_000);
  add("till", "lavender-s10", old.delivery, 1_000);
  const left = () =>
    t.rows("SELECT repo_key AS repo, session_id AS session, count(*) AS n FROM trace_labels GROUP BY 1, 2");
  await keep(30);
  const looks = vi.spyOn(eraseRows(core.store).looseLabels, "all");
  await night();
  const most = Math.max(...looks.mock.results.map(({ value }) => value.length));
  expect([most <= 2_000, looks.mock.calls.length]).toEqual([true, 4]);
  expect(left()).toEqual([
    { repo: "shop", session: null, n: 1_001 },
    { repo: "shop", session: "lavender-s10", n: 1 },
    { repo: "till", session: "lavender-s10", n: 1_000 },
  ]);
});
