import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { describe, expect, it, onTestFinished } from "vitest";
import { assignDevice, createCode, findDeviceOf, listDevices } from "../../../src/identity/devices/devices.ts";
import { removeMember, setRole } from "../../../src/identity/members/members.ts";
import { setDisabled } from "../../../src/identity/sign-in/sign-in.ts";
import { setMembersBind, type Team } from "../../../src/identity/teams/teams.ts";
import { silentLog } from "../../../src/kit/log.ts";
import { COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import { CURRENT_SCHEMA, upgrade } from "../../../src/platform/store/migrate.ts";
import { makeAccount } from "../../support/accounts.ts";
import { startWithDevice, startWithTeam, type TestInstance } from "../../support/instance.ts";
import { firstSchemaDirectory } from "../../support/older.ts";

const memberOf = ({ instance }: TestInstance, team: Team, email: string) =>
  makeAccount(instance.core, { email, team: { id: team.id, role: "member" } });

async function codeFor({ instance }: TestInstance, team: Team, personId: string | null) {
  return (await createCode(instance.core, team.id, COMMAND_LINE, undefined, personId)).code;
}

const exchange = (t: TestInstance, code: string) =>
  t.post("/api/connect/exchange", { json: { code, consent: { version: "1", deviceLabel: "laptop" } } });

describe("whose a device is", () => {
  it("is the person for whom the code was made, or nobody; the machine is told", async () => {
    const { t, team } = await startWithTeam();
    const ann = await memberOf(t, team, "ann@acme.example");
    const own = await exchange(t, await codeFor(t, team, ann.id));
    t.clock.advance(1);
    const shared = await exchange(t, await codeFor(t, team, null));
    expect([own.body.person, shared.body.person]).toEqual(["ann@acme.example", null]);
    expect(t.rows("SELECT id, person_id FROM devices ORDER BY created_at")).toEqual([
      { id: own.body.deviceId, person_id: ann.id },
      { id: shared.body.deviceId, person_id: null },
    ]);
    expect(
      t.rows("SELECT target_id, detail ->> 'person' AS person FROM audit_events WHERE action = 'device.connected'"),
    ).toEqual([
      { target_id: own.body.deviceId, person: "ann@acme.example" },
      { target_id: shared.body.deviceId, person: null },
    ]);
    expect(listDevices(t.instance.core, team.id).map(({ person }) => person)).toEqual([
      { id: ann.id, email: "ann@acme.example", name: null, operator: 0, createdAt: ann.createdAt, disabledAt: null },
      null,
    ]);
  });

  it.each([
    [
      "has left the team",
      (t: TestInstance, team: Team, id: string) => removeMember(t.instance.core, team.id, id, COMMAND_LINE),
    ],
    [
      "has no open account",
      (t: TestInstance, _: Team, id: string) => setDisabled(t.instance.core, id, true, COMMAND_LINE),
    ],
    [
      "became a viewer",
      (t: TestInstance, team: Team, id: string) => setRole(t.instance.core, team.id, id, "viewer", COMMAND_LINE),
    ],
    [
      "may connect no machines any more",
      (t: TestInstance, team: Team) => setMembersBind(t.instance.core, team.id, false, COMMAND_LINE),
    ],
  ])("is not a person who %s after the code was made: the code has ended", async (_, leave) => {
    const { t, team } = await startWithTeam();
    const ann = await memberOf(t, team, "ann@acme.example");
    const code = await codeFor(t, team, ann.id);
    await leave(t, team, ann.id);
    const refused = await exchange(t, code);
    expect([refused.status, refused.body.error]).toEqual([400, expect.stringContaining("expired")]);
    expect(t.count("devices")).toBe(0);
  });

  it("changes by assigning, within the team alone, and nothing is recorded where nothing changes", async () => {
    const { t, core, deviceId, team } = await startWithDevice();
    const other = await t.team();
    const ann = await memberOf(t, team, "ann@acme.example");
    const eve = await memberOf(t, other, "eve@other.example");
    expect(await assignDevice(core, deviceId, "ANN@acme.example", COMMAND_LINE)).toBe(true);
    expect(await assignDevice(core, deviceId, ann.id, COMMAND_LINE)).toBe(false);
    await expect(assignDevice(core, deviceId, eve.email, COMMAND_LINE)).rejects.toMatchObject({ status: 409 });
    await expect(assignDevice(core, deviceId, ann.id, COMMAND_LINE, other.id)).rejects.toMatchObject({ status: 404 });
    await expect(assignDevice(core, "dev_none", null, COMMAND_LINE)).rejects.toMatchObject({ status: 404 });
    expect(findDeviceOf(core, team.id, deviceId)?.person).toMatchObject({ email: ann.email });
    expect(t.rows("SELECT target_id, detail FROM audit_events WHERE action = 'device.assigned'")).toEqual([
      { target_id: deviceId, detail: JSON.stringify({ from: null, to: ann.email }) },
    ]);
    expect(await assignDevice(core, deviceId, null, COMMAND_LINE)).toBe(true);
    expect(findDeviceOf(core, team.id, deviceId)?.person).toBeNull();
  });
});

describe("an older database", () => {
  it("keeps its devices and codes, whose machines are nobody's until somebody says whose", async () => {
    const directory = await firstSchemaDirectory();
    const db = new Sqlite(join(directory, "reckon.db"));
    onTestFinished(() => void db.close());
    const now = "2026-11-21T08:00:00.000Z";
    const migrations = CURRENT_SCHEMA.migrations.filter(({ version }) => version <= 9);
    upgrade(db, directory, now, silentLog, { ...CURRENT_SCHEMA, version: 9, migrations });
    const code = db.prepare(
      "INSERT INTO connect_codes SELECT zeroblob(32), team_id, 1, 2, NULL, NULL, 'ann' FROM connect_codes",
    );
    code.run();
    const before = db.prepare("SELECT * FROM connect_codes ORDER BY expires_at").all() as object[];
    upgrade(db, directory, now, silentLog);
    expect(db.prepare("SELECT * FROM connect_codes ORDER BY expires_at").all()).toEqual([
      { ...before[0], person_id: null, uses: 1, used: 0, binds_for_ms: null },
      { ...before[1], person_id: null, uses: 1, used: 1, binds_for_ms: null },
    ]);
    expect(db.prepare("SELECT person_id FROM devices").all()).toEqual([{ person_id: null }]);
    expect(db.prepare("SELECT name, binding_closed_at FROM teams").all()).toEqual([
      { name: "Acme", binding_closed_at: null },
    ]);
  });
});
