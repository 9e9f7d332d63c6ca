import Sqlite from "better-sqlite3";
import { expect, it, onTestFinished } from "vitest";
import { assignDevice, listDevices, renameDevice, revokeDevice } from "../../../src/identity/devices/devices.ts";
import { DAY_MS, SECOND_MS } from "../../../src/kit/clock.ts";
import { databasePath } from "../../../src/platform/store/store.ts";
import { makeAccount } from "../../support/accounts.ts";
import { startInstance, type TestInstance } from "../../support/instance.ts";

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
  const t = await startInstance();
  const { core } = t.instance;
  const first = await t.device();
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
  await renameDevice(core, first.team.id, first.deviceId, "laptop");
  same();
  const { id } = await makeAccount(core, { email: "ada@example.com", team: { id: first.team.id, role: "member" } });
  await assignDevice(core, second.deviceId, id);
  await revokeDevice(core, first.deviceId);
  same();
  expect(listed(t, first.team.id).map((one) => one.id)).toEqual([first.deviceId, second.deviceId]);
  expect(listDevices(core, first.team.id)[1]?.person?.email).toBe("ada@example.com");

  const other = new Sqlite(databasePath(t.directory));
  onTestFinished(() => void other.close());
  other.prepare("UPDATE devices SET label = 'renamed elsewhere' WHERE id = ?").run(second.deviceId);
  t.clock.advance(SECOND_MS);
  same();
});

it("lists what a transaction did within it, and not once it is taken back", async () => {
  const t = await startInstance();
  const { core } = t.instance;
  const { deviceId } = await t.device();
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

it("reads machines that lived for one job anew at little more than their rows cost", async () => {
  const t = await startInstance();
  const { core } = t.instance;
  const { team } = await t.device();
  const [many, ended] = [
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)",
    t.clock.now() - 1,
  ];
  core.store.db
    .prepare(
      `INSERT INTO devices (id, team_id, consent_version, created_at, ends_at) ${many} SELECT 'dev_' || i, ?, '1', i, ? FROM n`,
    )
    .run(team.id, ended);
  core.store.db
    .prepare(
      `INSERT INTO device_tokens (token_hash, device_id, created_at, expires_at) ${many} SELECT CAST('t' || i AS BLOB), 'dev_' || i, i, ? FROM n`,
    )
    .run(ended);
  const other = new Sqlite(databasePath(t.directory));
  onTestFinished(() => void other.close());
  const cost = (act: () => unknown) => {
    const before = process.cpuUsage();
    act();
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  const rows = core.store.db.prepare("SELECT * FROM devices");
  const [reads, lists]: [number[], number[]] = [[], []];
  for (let i = 0; i < 15; i++) {
    other.prepare("UPDATE devices SET label = ? WHERE id = 'dev_1'").run(`renamed ${i}`);
    t.clock.advance(SECOND_MS);
    reads.push(cost(() => rows.all()));
    lists.push(cost(() => listDevices(core, "team_none")));
  }
  expect(Math.min(...lists)).toBeLessThan(2.5 * Math.min(...reads));
  const [one] = listDevices(core, team.id);
  expect(one).toMatchObject({ label: "renamed 14", status: "expired", tokenExpiresAt: ended });
});
