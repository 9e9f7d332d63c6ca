import Sqlite from "better-sqlite3";
import { expect, it, onTestFinished, vi } from "vitest";
import { assignDevice, listDevices, renameDevice, revokeDevice } from "../../../src/identity/devices/devices.ts";
import { rows } from "../../../src/identity/devices/rows.ts";
import { sourcesOf } from "../../../src/identity/ownership/ownership.ts";
import { DAY_MS, SECOND_MS } from "../../../src/kit/clock.ts";
import { COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import { databasePath } from "../../../src/platform/store/store.ts";
import { makeAccount } from "../../support/accounts.ts";
import { startInstance, startWithDevice, startWithTeam, type TestInstance } from "../../support/instance.ts";

const stored = (t: TestInstance) =>
  t.rows(
    `SELECT id, label, last_seen_at AS lastSeenAt, revoked_at AS revokedAt, person_id AS personId,
       (SELECT expires_at FROM device_tokens WHERE device_id = id AND replaced_at IS NULL) AS tokenExpiresAt
     FROM devices ORDER BY team_id, created_at, id`,
  );

const listed = (t: TestInstance, teamId?: string) =>
  listDevices(t.instance.core, teamId).map(({ id, label, lastSeenAt, revokedAt, personId, tokenExpiresAt }) => ({
    ...{ id, label, lastSeenAt, revokedAt, personId, tokenExpiresAt },
  }));

it("lists devices as they are after whatever changes them, here or in another process", async () => {
  const { t, core, device: first } = await startWithDevice();
  const same = () => expect(listed(t)).toEqual(stored(t));
  same();
  t.clock.advance(SECOND_MS);
  const second = await t.device(first.team);
  await t.device();
  same();
  t.clock.advance(DAY_MS);
  expect((await t.post("/api/connect/rotate", { token: first.token })).status).toBe(200);
  same();
  await t.post("/api/telemetry/heartbeat", { token: second.token });
  await renameDevice(core, first.team.id, first.deviceId, "laptop", COMMAND_LINE);
  same();
  const { id } = await makeAccount(core, { email: "ada@example.com", team: { id: first.team.id, role: "member" } });
  await assignDevice(core, second.deviceId, id, COMMAND_LINE);
  await revokeDevice(core, first.deviceId, COMMAND_LINE);
  same();
  expect(listed(t, first.team.id).map((one) => one.id)).toEqual([first.deviceId, second.deviceId]);
  expect(listDevices(core, first.team.id)[1]?.person?.email).toBe("ada@example.com");

  const other = new Sqlite(databasePath(t.directory));
  onTestFinished(() => void other.close());
  other.prepare("UPDATE devices SET label = 'renamed elsewhere' WHERE id = ?").run(second.deviceId);
  t.clock.advance(SECOND_MS);
  same();
});

it("lists a transaction's changes within it, and not once it is rolled back", async () => {
  const { t, core, deviceId } = await startWithDevice();
  expect(listed(t)).toHaveLength(1);
  await expect(
    core.store.write(() => {
      core.store.db.prepare("UPDATE devices SET label = 'never' WHERE id = ?").run(deviceId);
      expect(listed(t)[0]?.label).toBe("never");
      throw new Error("taken back");
    }),
  ).rejects.toThrow("taken back");
  expect(listed(t)).toEqual(stored(t));
  expect(listed(t)[0]?.label).not.toBe("never");
});

function addDevices(t: TestInstance, teamId: string, count: number): void {
  const { db } = t.instance.core.store;
  const insert = db.prepare("INSERT INTO devices (id, team_id, consent_version, created_at) VALUES (?, ?, '1', ?)");
  db.transaction(() => {
    for (let i = 1; i <= count; i++) insert.run(`dev_${String(i).padStart(5, "0")}`, teamId, i);
  })();
}

it("reads thousands of devices anew beside other work when another process changed one, and misses no change meanwhile", async () => {
  const { t, core, team, deviceId } = await startWithDevice();
  addDevices(t, team.id, 3_000);
  expect(listed(t)).toHaveLength(3_001);
  const other = new Sqlite(databasePath(t.directory));
  onTestFinished(() => void other.close());
  other.exec("UPDATE devices SET label = 'renamed elsewhere' WHERE id = 'dev_02000'");
  t.clock.advance(SECOND_MS);
  const labelOf = (id: string) => listed(t, team.id).find((one) => one.id === id)?.label ?? null;
  // Reading so many at once would hold everybody up.
  expect(labelOf("dev_02000")).toBeNull();
  await renameDevice(core, team.id, deviceId, "renamed meanwhile", COMMAND_LINE);
  await expect.poll(() => labelOf("dev_02000")).toBe("renamed elsewhere");
  expect(labelOf(deviceId)).toBe("renamed meanwhile");
  expect(listed(t)).toEqual(stored(t));
});

it("finds a person's devices without reading all machines of a large team", async () => {
  const { t, core, team, deviceId } = await startWithDevice();
  const { id } = await makeAccount(core, { email: "ada@example.com", team: { id: team.id, role: "member" } });
  await assignDevice(core, deviceId, id, COMMAND_LINE);
  addDevices(t, team.id, 20_000);
  expect(sourcesOf(core, team.id, null)).toHaveLength(20_000);
  expect(sourcesOf(core, team.id, "ada@example.com")).toEqual([deviceId, "ada@example.com"]);
  const cost = (person: string | null) => {
    const before = process.threadCpuUsage();
    for (let i = 0; i < 20; i++) sourcesOf(core, team.id, person);
    const { user, system } = process.threadCpuUsage(before);
    return user + system;
  };
  // A team may have a hundred budgets of people, and each reads its person's devices.
  expect(cost(id)).toBeLessThan(cost(null) / 3);
});

it("lists the very many devices of somebody, in several teams, as they are", async () => {
  const t = await startInstance();
  const { core } = t.instance;
  const devices = [await t.device(), await t.device()];
  const { id: ci } = await makeAccount(core, { email: "ci@example.com" });
  for (const { deviceId } of devices)
    core.store.db
      .prepare(
        `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
         INSERT INTO devices (id, team_id, label, consent_version, created_at, person_id)
         SELECT id || '-' || i, team_id, label, consent_version, created_at + i % 7, iif(i % 10, ?, NULL) FROM n, devices WHERE id = ?`,
      )
      .run(ci, deviceId);
  const ids = (teamId?: string) => listDevices(core, teamId, ci).map(({ id }) => id);
  const stored = (teamId: string | null) =>
    t
      .rows(
        "SELECT id FROM devices WHERE person_id = ? AND coalesce(team_id = ?, 1) ORDER BY created_at, id",
        ci,
        teamId,
      )
      .map(({ id }) => id);
  // Before all devices are in memory, and once they are.
  for (const _ of [1, 2]) {
    expect(ids()).toEqual(stored(null));
    expect(ids()).toHaveLength(720);
    for (const { team } of devices) expect(ids(team.id)).toEqual(stored(team.id));
    listDevices(core);
  }
  core.store.db.prepare("UPDATE devices SET person_id = NULL WHERE id = ?").run(ids()[0]);
  expect(ids()).toEqual(stored(null));
  expect(ids()).toHaveLength(719);
});

it("reads changes of very many devices as they are made, and leaves few for the next reader", async () => {
  const { t, core, team } = await startWithTeam();
  const DEVICES = 4_500;
  addDevices(t, team.id, DEVICES);
  expect(listDevices(core, team.id)).toHaveLength(DEVICES);
  const reads = vi.spyOn(rows(core.store).device, "get");
  const hear = core.store.db.prepare("UPDATE devices SET last_seen_at = 7 WHERE created_at > ? AND created_at <= ?");
  for (let at = 0; at < DEVICES; at += 500) await core.store.write(() => hear.run(at, at + 500));
  await new Promise((resolve) => setImmediate(resolve));
  expect(reads.mock.calls.length).toBeGreaterThanOrEqual(DEVICES - 2_000);
  expect(listDevices(core, team.id).every(({ lastSeenAt }) => lastSeenAt === 7)).toBe(true);
  expect(reads.mock.calls.length).toBe(DEVICES);
});
