import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import Sqlite from "better-sqlite3";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ROOMS } from "../../src/app.ts";
import { assignDevice, listDevices, renameDevice } from "../../src/identity/devices/devices.ts";
import { setRole } from "../../src/identity/members/members.ts";
import { getUser, storePerson, type User } from "../../src/identity/people/people.ts";
import { saveView } from "../../src/identity/saved-views/saved-views.ts";
import { teamMoves } from "../../src/identity/teams/teams.ts";
import { budgetStandings, setBudget } from "../../src/insight/budgets/budgets.ts";
import { DERIVED, deriveAll } from "../../src/insight/derived/derived.ts";
import { sumSessions } from "../../src/insight/sessions/sessions.ts";
import { reprice } from "../../src/insight/spend/price-sessions.ts";
import { spendReport } from "../../src/insight/spend/spend.ts";
import { act } from "../../src/insight/triage/triage.ts";
import { baseUrlOf } from "../../src/kit/base-url.ts";
import { DAY_MS } from "../../src/kit/clock.ts";
import { COMMAND_LINE, SYSTEM } from "../../src/platform/audit/audit.ts";
import { ledgerKeys, signStatement } from "../../src/platform/transparency/transparency.ts";
import { sealContents } from "../../src/record/brain/seal.ts";
import { currentVersion, setPolicy } from "../../src/record/policy/policy.ts";
import { seal } from "../../src/record/traces/seal.ts";
import { carryOut, placeHold, requestErasure, resolveTarget, setRetention } from "../../src/share/erasure/erasure.ts";
import { retentionJob } from "../../src/share/erasure/nightly.ts";
import { backup, restore } from "../../src/share/maintenance/maintenance.ts";
import { LEFT } from "../../src/share/moves/left.ts";
import { manifestText, readManifest } from "../../src/share/moves/manifest.ts";
import { digestOf } from "../../src/share/moves/rows.ts";
import { MOVED } from "../../src/share/moves/tables.ts";
import { prove } from "../../src/share/proofs/prove.ts";
import { makeAccount } from "../support/accounts.ts";
import { deliverAll, eraseNow, filesWith, personWith } from "../support/erasure.ts";
import { newFolder } from "../support/folder.ts";
import { startInstance, type TestDevice, type TestInstance } from "../support/instance.ts";
import { ledgerFaults } from "../support/ledger-faults.ts";
import { firstSchemaDirectory } from "../support/older.ts";
import { archiveOf, publish, publisher, pushBrain } from "../support/packs.ts";
import { ran } from "../support/remote.ts";

const TO = "https://new.example";
const WEEK = {
  by: "model",
  from: Date.UTC(2026, 10, 15),
  to: Date.UTC(2026, 10, 21),
} as const;

const team = (t: TestInstance, ...argv: string[]) => ran(["team", ...argv, "--json", "--data", t.directory]);

/** Moves a team away, and writes it into a file. */
async function leave(t: TestInstance, name: string, file = join(newFolder(), "team")): Promise<string> {
  await teamMoves.begin(t.instance.core, name, TO, COMMAND_LINE);
  const done = await team(t, "export", name, "--out", file);
  expect([done.code, done.err]).toEqual([0, ""]);
  return file;
}

/** @returns what it printed */
async function arrive(t: TestInstance, file: string, ...more: string[]) {
  const done = await team(t, "import", file, "--accept-key", ...more);
  expect([done.code, done.err.replace(/^(?:Then|No password).*\n/gm, "")]).toEqual([0, ""]);
  return JSON.parse(done.out);
}

const expectRefused = async (t: TestInstance, file: string, message: string | RegExp, ...more: string[]) => {
  const before = t.count("log_leaves");
  const done = await team(t, "import", file, "--accept-key", ...more);
  expect([done.code, done.err]).toEqual([1, expect.stringMatching(message)]);
  expect(t.count("log_leaves")).toBe(before);
};

/** Signs a changed file, as its maker can, and closes it. */
function resign(t: TestInstance, db: InstanceType<typeof Sqlite>): void {
  const { manifest } = readManifest(db.prepare("SELECT note FROM file_manifest").pluck().get() as string);
  const tables = Object.fromEntries(Object.keys(manifest.tables).map((name) => [name, digestOf(db, name)]));
  const note = signStatement(t.instance.core, manifestText({ ...manifest, tables }));
  db.prepare("UPDATE file_manifest SET note = ?").run(note);
  db.close();
}

const faults = ({ instance }: TestInstance) => ledgerFaults(instance.core);

/** An instance with a team of two devices and a person, and another team beside it whose text is "lavender". */
async function shop(): Promise<{ t: TestInstance; ada: TestDevice; robot: TestDevice; stranger: TestDevice }> {
  const t = await startInstance();
  const acme = await t.team({ name: "Acme" });
  const stranger = await t.device(await t.team({ name: "Lavender" }));
  const [ada, robot] = [await t.device(acme), await t.device(acme)];
  await personWith(t, ada, "ada@example.com");
  await deliverAll(t, stranger, "lavender/shop", "lavender");
  await deliverAll(t, ada, "shop", "marigold");
  await deliverAll(t, robot, "till", "crocus");
  const { core } = t.instance;
  await seal({ ...core, clock: { ...core.clock, now: () => t.clock.now() + DAY_MS } }, Number.MAX_SAFE_INTEGER);
  expect(t.rows("SELECT count(*) > 2 AS many FROM trace_spans WHERE block_id IS NOT NULL")).toEqual([{ many: 1 }]);
  await deliverAll(t, stranger, "lavender/till", "lavender", 9);
  const lou = await personWith(t, stranger, "lou@lavender.example");
  t.rows(
    `INSERT INTO session_views (session_id, user_id, day, team_id, device_id, at)
     SELECT id, ?, 1, team_id, device_id, 1 FROM trace_sessions WHERE device_id = ? RETURNING 1`,
    lou.id,
    stranger.deviceId,
  );
  await deliverAll(t, ada, "shop", "marigold", 9);
  // Evidence: a number that came again with other content, and one that is missing.
  await t.post("/api/telemetry/ingest", {
    token: robot.token,
    json: { repoKey: "till", entries: [{ seq: 1, payload: { other: 1 } }] },
  });
  await t.post("/api/telemetry/ingest", {
    token: robot.token,
    json: { repoKey: "till", entries: [{ seq: 90, payload: {} }] },
  });
  await t.instance.settle();
  return { t, ada, robot, stranger };
}

/** A team's rows in the tables that move, without numbers that each instance gives and tables of each instance's own. */
function contentOf(t: TestInstance, teamId: string): [string, string[]][] {
  const OWN = ["audit_events", "log_imports", "log_import_leaves", "log_import_nodes"];
  return MOVED.filter(({ name }) => !OWN.includes(name)).map(({ name, where, arriving = {}, leaving = {} }) => {
    const renumbered = new Set([...Object.keys(arriving), ...Object.keys(leaving)]);
    const rows = t.rows(`SELECT * FROM ${name} t WHERE ${where.replaceAll("@team", `'${teamId}'`)}`);
    return [
      name,
      rows.map((row) => JSON.stringify(Object.entries(row).filter(([column]) => !renumbered.has(column)))).sort(),
    ];
  });
}

it("knows of every table whether it moves, and of every projection how to skip what it has read", async () => {
  const names = [...readFileSync("schema.sql", "utf8").matchAll(/CREATE TABLE (\w+)/g)].map(([, name]) => name);
  expect([...MOVED.map(({ name }) => name), ...Object.keys(LEFT)].sort()).toEqual(names.sort());
  const projections = ROOMS.flatMap(({ projections = [] }) => projections);
  expect(new Set(DERIVED)).toEqual(new Set(projections));
  expect(DERIVED.filter(({ newest, skip }) => !newest || !skip)).toEqual([]);
});

describe("a team that moves", () => {
  it("is there as it was here: rows, figures, evidence, tokens; and both ledgers verify", async () => {
    const { t, ada } = await shop();
    const files = Array.from({ length: 6 }, (_, i) => ({
      path: `${i}.md`,
      content: `${"marigold ".repeat(20_000)}${i}`,
    }));
    await t.post("/api/brain/ingest", { token: ada.token, json: { repoKey: "shop", version: 10, files } });
    expect(await sealContents(t.instance.core, Number.MAX_SAFE_INTEGER)).toBeGreaterThan(1);
    const from = spendReport(t.instance.core, ada.team.id, WEEK);
    const file = await leave(t, "Acme");
    for (const text of ["lavender", "Lavender", "argon2"]) expect(readFileSync(file).includes(text)).toBe(false);
    const u = await startInstance();
    const other = await u.device(await u.team({ name: "Third" }));
    await deliverAll(u, other, "shop", "peony");
    // The numbers of rows that are gone are not given again either.
    u.rows("UPDATE sqlite_sequence SET seq = 1000 WHERE name = 'trace_sessions' RETURNING 1");
    const printed = await arrive(u, file);
    const [{ first }] = u.rows("SELECT min(id) AS first FROM trace_sessions WHERE team_id = ?", ada.team.id);
    expect(first).toBeGreaterThan(1_000);
    expect(printed).toMatchObject({ team: "Acme", imported: true, accounts: { made: ["ada@example.com"], known: [] } });
    await u.instance.settle();
    expect(contentOf(u, ada.team.id)).toEqual(contentOf(t, ada.team.id));
    expect(JSON.stringify(spendReport(u.instance.core, ada.team.id, WEEK))).toBe(JSON.stringify(from));
    expect([faults(t), faults(u)]).toEqual([[], []]);
    // Its own auditors can show which log it came from; another team's cannot.
    const [{ leaf }] = u.rows("SELECT leaf FROM log_imports");
    expect(prove(u.instance.core, ada.team.id, "event", leaf)).toContain("\nindex ");
    expect(() => prove(u.instance.core, other.team.id, "event", leaf)).toThrow("There is no event");
    // The token works there, and the stream's numbers go on.
    const json = { repoKey: "shop", entries: [{ seq: 12, payload: { text: "after" } }] };
    const sent = await u.post("/api/telemetry/ingest", { token: ada.token, json });
    expect([sent.status, sent.body.flagged, sent.body.maxSeq]).toEqual([200, null, 12]);
    expect((await t.post("/api/telemetry/ingest", { token: ada.token, json })).body.movedTo).toBe(TO);
    await deliverAll(u, other, "shop", "peony", 9);
    await u.instance.settle();
    expect(faults(u)).toEqual([]);
    const actions = (one: TestInstance) =>
      one
        .rows("SELECT action FROM audit_events WHERE action LIKE 'team.%' AND team_id = ?", ada.team.id)
        .map(({ action }) => action);
    expect(actions(t)).toEqual(["team.created", "team.moved", "team.exported"]);
    expect(actions(u)).toEqual(["team.created", "team.moved", "team.exported", "team.imported"]);
  });

  it("gives no error the number of one that is gone, which has its number again when it comes back", async () => {
    const [t, u] = [await startInstance(), await startInstance()];
    const ada = await t.device(await t.team({ name: "Acme" }));
    let version = 0;
    const say = async (on: TestInstance, token: string, ...titles: string[]) => {
      const content = titles.map((title) => `## 2026-11-20 ${title}\n`).join("\n");
      const files = [{ path: ".claude/brain/errors.md", content }];
      await on.post("/api/brain/ingest", { token, json: { repoKey: "shop", version: ++version, files } });
      await on.instance.settle();
      return on.rows("SELECT id, title FROM defects WHERE team_id = ? ORDER BY title", ada.team.id);
    };
    await say(t, ada.token, "A", "B");
    await say(t, ada.token, "A");
    const [{ fingerprint }] = t.rows("SELECT lower(hex(substr(fingerprint, 1, 4))) AS fingerprint FROM defects");
    await act(t.instance.core, { teamId: ada.team.id, fingerprint }, { kind: "resolve" }, COMMAND_LINE);
    await say(u, (await u.device()).token, "Other");
    await arrive(u, await leave(t, "Acme"));
    // What is said of a whole class belongs to no entry.
    for (const table of ["triage_words", "triage_events"])
      expect([table, u.rows(`SELECT entry_id FROM ${table}`)]).toEqual([table, [{ entry_id: 0 }]]);
    expect(await say(u, ada.token, "A", "C")).toEqual([
      { id: 2, title: "A" },
      { id: 4, title: "C" },
    ]);
    expect(await say(u, ada.token, "A", "B", "C")).toContainEqual({ id: 3, title: "B" });
  });

  it("is imported once, however often that is asked for", async () => {
    const { t } = await shop();
    const file = await leave(t, "Acme");
    const u = await startInstance();
    await arrive(u, file);
    const leaves = u.count("log_leaves");
    expect(await arrive(u, file)).toMatchObject({ imported: false, team: "Acme" });
    expect(u.count("log_leaves")).toBe(leaves);
    const again = await leave(t, "Acme");
    await expectRefused(u, again, /is here already, from another file/);
  });

  it("can move on to a third server, but back to none that it came from", async () => {
    const { t, ada } = await shop();
    const [u, w] = [await startInstance(), await startInstance()];
    await arrive(u, await leave(t, "Acme"));
    await u.post("/api/telemetry/ingest", {
      token: ada.token,
      json: { repoKey: "shop", entries: [{ seq: 12, payload: { text: "between" } }] },
    });
    await u.instance.settle();
    const file = await leave(u, "Acme");
    await arrive(w, file);
    expect(faults(w)).toEqual([]);
    expect(w.count("log_imports")).toBe(2);
    expect(w.rows("SELECT payload FROM telemetry_entries WHERE seq = 12")).toHaveLength(1);
    await expectRefused(t, file, /is here already/);
  });

  it("takes along what was delivered before there was a tree", async () => {
    const older = await startInstance({ directory: await firstSchemaDirectory() });
    await deliverAll(older, await older.device(), "shop", "lavender");
    const u = await startInstance();
    await deliverAll(u, await u.device(), "shop", "peony");
    await arrive(u, await leave(older, "Acme"));
    expect(u.rows("SELECT 1 FROM deliveries WHERE chain_sha256 IS NOT NULL").length).toBeGreaterThan(0);
    expect(faults(u)).toEqual([]);
  });

  it("leaves behind what was erased, and keeps its holds and retention", async () => {
    const { t, robot } = await shop();
    const { core } = t.instance;
    await carryOut(
      core,
      await requestErasure(core, resolveTarget(core, { person: "ada@example.com" }), "asked for", COMMAND_LINE),
    );
    await placeHold(core, { device: robot.deviceId, reason: "claim" }, COMMAND_LINE);
    await setRetention(core, "Acme", "traces", 400, COMMAND_LINE);
    t.clock.advance(DAY_MS);
    await retentionJob.run(core);
    const file = await leave(t, "Acme");
    const u = await startInstance();
    for (const text of ["marigold", "ada@example.com"]) expect(readFileSync(file).includes(text)).toBe(false);
    await arrive(u, file);
    expect(faults(u)).toEqual([]);
    expect(filesWith(u.directory, "marigold")).toEqual([]);
    expect(u.rows("SELECT email FROM users")).toEqual([{ email: expect.stringMatching(/^erased-usr_/) }]);
    expect([u.count("holds"), u.count("retention_rules")]).toEqual([1, 1]);
    expect(u.rows("SELECT kind FROM erasures ORDER BY kind")).toEqual([{ kind: "person" }, { kind: "retention" }]);
    expect(u.rows("SELECT count(*) AS n FROM deliveries WHERE erased_by IS NOT NULL")[0].n).toBeGreaterThan(0);
    await u.close();
    // A restart does not erase the person again.
    const again = await startInstance({ directory: u.directory });
    expect(faults(again)).toEqual([]);
  });

  it("can come after a restore from before a device was made that is erased by now", async () => {
    const { t, ada } = await shop();
    const file = join(newFolder(), "backup");
    await backup(t.instance.core, file);
    const later = await t.device(ada.team);
    await deliverAll(t, later, "shop", "peony");
    const { core } = t.instance;
    for (const request of [{ session: "peony-s1" }, { device: later.deviceId }])
      await carryOut(core, await requestErasure(core, resolveTarget(core, request), "asked for", COMMAND_LINE));
    await t.close();
    restore(file, t.directory, "then");
    const again = await startInstance({ directory: t.directory, clock: t.clock });
    const u = await startInstance();
    await arrive(u, await leave(again, "Acme"));
    expect([faults(again), faults(u)]).toEqual([[], []]);
    expect([again.count("erasures"), u.count("erasures")]).toEqual([2, 0]);
  });

  it("can come after another team that an erasure concerned as well, and again after its import was undone", async () => {
    const { t, ada, robot, stranger } = await shop();
    const { core } = t.instance;
    await deliverAll(t, stranger, "shop", "lavender", 20);
    const { id } = await personWith(t, stranger, "lou@example.com");
    await setRole(core, ada.team.id, "lou@example.com", "member", COMMAND_LINE);
    await assignDevice(core, robot.deviceId, "lou@example.com", COMMAND_LINE);
    // An agent on somebody else's machine names them.
    const named = {
      repoKey: "till",
      sessions: [{ id: "lou's", outcome: "ok", userEmail: "lou@example.com", spans: [] }],
    };
    expect((await t.post("/api/agent-traces/ingest", { token: ada.token, json: named })).status).toBe(200);
    // An erasure in all teams, and one of a person with devices in two.
    for (const target of [{ repo: "shop" }, { person: "lou@example.com" }])
      await carryOut(core, await requestErasure(core, resolveTarget(core, target), "asked for", COMMAND_LINE));
    const [acme, lavender] = [await leave(t, "Acme"), await leave(t, "Lavender")];
    const u = await startInstance();
    const before = join(newFolder(), "before");
    await backup(u.instance.core, before);
    await arrive(u, lavender);
    await arrive(u, acme);
    expect([faults(t), faults(u)]).toEqual([[], []]);
    const targets = (v: TestInstance) =>
      v.rows("SELECT kind, target FROM erasures ORDER BY kind").map(({ target }) => JSON.parse(target));
    expect(targets(u)).toEqual([
      {
        kind: "person",
        personId: id,
        deviceIds: expect.toSatisfy((ids) => ids.length === 2 && ids.includes(robot.deviceId)),
        namedOn: [ada.deviceId],
      },
      {
        kind: "repo",
        repoKey: "shop",
        teamIds: expect.toSatisfy((ids) => ids.length === 2 && ids.includes(ada.team.id)),
      },
    ]);
    await u.close();
    restore(before, u.directory, "then");
    const again = await startInstance({ directory: u.directory, clock: u.clock });
    expect(again.count("erasures")).toBe(2);
    await arrive(again, lavender);
    await arrive(again, acme);
    expect(faults(again)).toEqual([]);
    expect(filesWith(again.directory, "crocus").filter((name) => !name.startsWith("backups"))).toEqual([]);
    expect(new Set(targets(again)[1].teamIds)).toEqual(new Set([ada.team.id, stranger.team.id]));
  });

  it("gives accounts to those who have none, without password or rights beyond the team", async () => {
    const { t, robot } = await shop();
    await personWith(t, robot, "root@example.com");
    t.rows("UPDATE users SET operator = 1 WHERE email = 'root@example.com' RETURNING id");
    const u = await startInstance();
    const third = await u.team({ name: "Third" });
    const local = await u.device(third);
    const known = await personWith(u, local, "Ada@Example.com");
    const { accounts } = await arrive(u, await leave(t, "Acme"));
    expect(accounts).toEqual({ made: ["root@example.com"], known: ["ada@example.com"] });
    expect(u.rows("SELECT email, operator, password_hash AS hash FROM users WHERE email = 'root@example.com'")).toEqual(
      [{ email: "root@example.com", operator: 0, hash: null }],
    );
    expect(u.rows("SELECT count(*) AS n FROM memberships WHERE user_id = ?", known.id)[0].n).toBe(2);
    // What another process did is seen within moments.
    u.clock.advance(1_000);
    const owners = listDevices(u.instance.core, u.rows("SELECT id FROM teams WHERE name = 'Acme'")[0].id);
    expect(owners.map(({ personId }) => personId)).toContain(known.id);
  });

  it("can be renamed where its name is taken", async () => {
    const { t, ada } = await shop();
    const u = await startInstance();
    await u.team({ name: "Acme" });
    const file = await leave(t, "Acme");
    await expectRefused(u, file, /team named "Acme" already/);
    for (const name of ["", " North", "Acme\nof the North", "A".repeat(201)])
      await expectRefused(u, file, "1 to 200 characters on one line", "--name", name);
    expect((await arrive(u, file, "--name", "Acme of the North")).name).toBe("Acme of the North");
    expect(u.rows("SELECT name FROM teams WHERE id = ?", ada.team.id)).toEqual([{ name: "Acme of the North" }]);
    expect(faults(u)).toEqual([]);
  });
});

/** A team whose robot installed a pack of its own, and its file. */
async function withPack() {
  const { t, ada, robot } = await shop();
  await pushBrain(t, ada);
  await publish(t, ada.team.id, { name: "cookies" });
  expect((await t.get(archiveOf("cookies"), { token: robot.token })).status).toBe(200);
  expect(t.count("pack_installs")).toBe(1);
  return { t, robot, file: await leave(t, "Acme") };
}

describe("a team that arrives", () => {
  it("leaves its packs behind where their names are taken and it is asked to", async () => {
    const { file } = await withPack();
    const u = await startInstance();
    await publisher(u, "cookies");
    const packs = () => [u.rows("SELECT * FROM packs"), u.rows("SELECT id, pack_id FROM pack_versions")];
    const before = packs();
    await expectRefused(u, file, "Packs of these names are here already: cookies. Leave");
    await arrive(u, file, "--without-packs");
    expect([packs(), u.count("pack_installs")]).toEqual([before, 0]);
    expect([faults(u), u.rows("PRAGMA foreign_key_check")]).toEqual([[], []]);
    const v = await startInstance();
    await arrive(v, file);
    expect([v.count("packs"), v.count("pack_versions"), v.count("pack_installs"), faults(v)]).toEqual([1, 1, 1, []]);
  });

  it("is refused where one of its devices, or a device with one of its tokens, is here: that would open two teams", async () => {
    const { t, robot } = await shop();
    const file = await leave(t, "Acme");
    const u = await startInstance();
    const { deviceId } = await u.device();
    const [{ hash }] = t.rows("SELECT token_hash AS hash FROM device_tokens WHERE device_id = ?", robot.deviceId);
    u.rows("UPDATE device_tokens SET token_hash = ? WHERE device_id = ? RETURNING 1", hash, deviceId);
    await expectRefused(u, file, "Devices of the team are here already");
    u.rows("UPDATE device_tokens SET token_hash = x'00' RETURNING 1");
    u.instance.core.store.db.pragma("foreign_keys = OFF");
    u.rows("UPDATE devices SET id = ? RETURNING 1", robot.deviceId);
    await expectRefused(u, file, "Devices of the team are here already");
    u.rows("UPDATE devices SET id = ? RETURNING 1", deviceId);
    await arrive(u, file);
  });

  it("costs what it does at the prices of the instance that it came to", async () => {
    const { t, ada } = await shop();
    const usage = { input_tokens: 1_000_000, output_tokens: 0 };
    const sessions = [{ id: "s-1", outcome: "ok", spans: [{ id: "a", model: "own-model", usage }] }];
    const traced = await t.post("/api/agent-traces/ingest", { token: ada.token, json: { repoKey: "till", sessions } });
    expect(traced.status).toBe(200);
    const priced = async ({ directory, instance: { core } }: TestInstance, input: number) => {
      const models = { "own-model": { input, output: 1 } };
      writeFileSync(join(directory, "prices.json"), JSON.stringify({ date: "2026-11-01", models }));
      await deriveAll(core);
      await reprice(core);
    };
    const cost = async ({ instance: { core } }: TestInstance) => (await sumSessions(core, ada.team.id)).usd;
    await priced(t, 3);
    expect(await cost(t)).toBe(3);
    const file = await leave(t, "Acme");
    const u = await startInstance();
    await priced(u, 5);
    await arrive(u, file);
    await reprice(u.instance.core);
    expect(await cost(u)).toBe(5);
  });

  it("is refused where the id of one of its erasures is on record for another one, which stays as it is", async () => {
    const { t, ada } = await shop();
    await eraseNow(t.instance.core, { device: ada.deviceId });
    const file = await leave(t, "Acme");
    const u = await startInstance();
    const target = '{"kind":"session","externalId":"s-1"}';
    u.rows(
      `INSERT INTO erasures (id, kind, team_id, target, reason, requested_by, requested_at, completed_at)
       VALUES (?, 'session', NULL, ?, '', '', 1, 1) RETURNING 1`,
      ...[t.rows("SELECT id FROM erasures")[0].id, target],
    );
    await expectRefused(u, file, "is on record here with another target");
    expect(u.rows("SELECT kind, target FROM erasures")).toEqual([{ kind: "session", target }]);
  });
});

describe("a move", () => {
  it("is taken back until it is confirmed, and each act is on record", async () => {
    const { t, ada } = await shop();
    const send = () => t.post("/api/telemetry/heartbeat", { token: ada.token });
    const on = await team(t, "move", "Acme", "--to", "https://new.example/");
    expect(JSON.parse(on.out)).toMatchObject({ movedTo: TO, confirmedAt: null });
    t.clock.advance(1_000);
    expect((await send()).status).toBe(401);
    expect((await team(t, "move", "Acme", "--cancel")).code).toBe(0);
    t.clock.advance(1_000);
    expect((await send()).status).toBe(200);
    expect((await team(t, "move", "Acme", "--cancel")).err).toContain("has not moved");
    await team(t, "move", "Acme", "--to", TO);
    expect(JSON.parse((await team(t, "move", "Acme", "--confirm")).out).confirmedAt).not.toBeNull();
    for (const words of [["--cancel"], ["--to", "https://third.example"]])
      expect((await team(t, "move", "Acme", ...words)).err).toContain("confirmed");
    expect((await team(t, "move", "Acme", "--to", "http://plain.example")).code).toBe(1);
    expect(
      t.rows("SELECT action FROM audit_events WHERE action LIKE 'team.move%'").map(({ action }) => action),
    ).toEqual(["team.moved", "team.move_cancelled", "team.moved", "team.move_confirmed"]);
    expect(faults(t)).toEqual([]);
  });

  it("goes only to another server than the one that the team is at", async () => {
    const { t, ada } = await shop();
    const own = baseUrlOf(t.instance.core.config);
    const done = await team(t, "move", "Acme", "--to", `${own}/`);
    expect([done.code, done.err]).toEqual([1, expect.stringContaining(`${own} is the address of this server`)]);
    expect((await t.post("/api/telemetry/heartbeat", { token: ada.token })).status).toBe(200);
  });

  it("tells the new address to connect codes and token rotations as well", async () => {
    const { t, ada } = await shop();
    const code = await t.code(ada.team);
    await teamMoves.begin(t.instance.core, "Acme", TO, COMMAND_LINE);
    const codes = t.count("connect_codes");
    const exchanged = await t.post("/api/connect/exchange", { json: { code, consent: { version: "1" } } });
    expect([exchanged.status, exchanged.body.error]).toEqual([404, expect.stringContaining(TO)]);
    const rotated = await t.post("/api/connect/rotate", { token: ada.token });
    expect([rotated.status, rotated.body]).toEqual([
      401,
      { error: expect.stringContaining(TO), reason: "invalid_token" },
    ]);
    expect((await t.post("/mcp", { token: ada.token, json: { jsonrpc: "2.0", id: 1, method: "ping" } })).status).toBe(
      401,
    );
    // A code that is made now would be known to neither server.
    const late = await ran(["code", "create", "--team", "Acme", "--data", t.directory]);
    expect([late.code, late.out, late.err]).toEqual([
      1,
      "",
      expect.stringContaining(`moved to ${TO}: make codes there`),
    ]);
    expect(t.count("connect_codes")).toBe(codes);
  });
});

describe("a file", () => {
  it("that was altered anywhere is refused", async () => {
    const { t } = await shop();
    const file = await leave(t, "Acme");
    const u = await startInstance();
    const copy = `${file}.altered`;
    const tables = [...MOVED.map(({ name }) => name), "log_leaves", "file_nodes", "file_manifest"];
    const original = new Sqlite(file, { readonly: true });
    const filled = tables.filter((name) => original.prepare(`SELECT 1 FROM ${name} LIMIT 1`).get());
    expect(filled.length).toBeGreaterThan(35);
    original.close();
    const alter = (name: string, row: number, column: number, how: "change" | "remove") => {
      copyFileSync(file, copy);
      const db = new Sqlite(copy);
      db.pragma("foreign_keys = OFF");
      const columns = db.pragma(`table_info(${name})`) as { name: string; type: string; pk: number }[];
      const keys = columns.filter(({ pk }) => pk > 0).map((one) => one.name);
      const all = db.prepare(`SELECT * FROM ${name}`).all() as Record<string, unknown>[];
      const chosen = all[row % all.length] as Record<string, unknown>;
      const by = keys.length > 0 ? keys : Object.keys(chosen);
      const where = by.map((key) => `${key} IS ?`).join(" AND ");
      const values = by.map((key) => chosen[key]);
      const { name: target, type } = columns[column % columns.length] as { name: string; type: string };
      const value = chosen[target];
      const next =
        type === "INTEGER"
          ? Number(value ?? 0) + 1
          : type === "BLOB"
            ? Buffer.concat([(value as Buffer) ?? Buffer.of(), Buffer.of(1)])
            : `${value ?? ""}x`;
      try {
        if (how === "remove") db.prepare(`DELETE FROM ${name} WHERE ${where}`).run(...values);
        else db.prepare(`UPDATE ${name} SET ${target} = ? WHERE ${where}`).run(next, ...values);
      } catch {
        // A constraint of the table forbids it.
        return false;
      } finally {
        db.close();
      }
      return true;
    };
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...filled),
        fc.nat(50),
        fc.nat(20),
        fc.constantFrom("change", "remove"),
        async (name, row, column, how) => {
          if (!alter(name, row, column, how as "change" | "remove")) return;
          const done = await team(u, "import", copy, "--accept-key", "--dry-run");
          expect([name, done.code, done.out]).toEqual([name, 1, ""]);
        },
      ),
      { numRuns: 60, examples: filled.map((name) => [name, 0, 1, "change"]) },
    );
    expect(u.count("teams")).toBe(0);
  });

  it("of another key, another schema, another form or a team that is still served is refused", async () => {
    const { t } = await shop();
    const u = await startInstance();
    const served = join(newFolder(), "served");
    expect((await team(t, "export", "Acme", "--out", served)).code).toBe(0);
    await expectRefused(u, served, /still served where the file was made/);
    expect((await team(u, "import", served, "--accept-key", "--dry-run")).code).toBe(0);
    const file = await leave(t, "Acme");
    const key = ledgerKeys.vkey(t.instance.core) as string;
    const foreign = ledgerKeys.vkey(u.instance.core) as string;
    expect((await team(u, "import", file)).err).toContain("--origin-key");
    expect((await team(u, "import", file, "--origin-key", foreign)).err).toContain("not with the key that was given");
    expect((await team(u, "import", file, "--origin-key", "nonsense")).err).toContain("verifier key");
    const change = async (sql: string, message: RegExp) => {
      const copy = join(newFolder(), "copy");
      copyFileSync(file, copy);
      const db = new Sqlite(copy);
      db.exec(sql);
      db.close();
      await expectRefused(u, copy, message);
    };
    await change("PRAGMA user_version = 30", /it has schema 30/);
    await change("CREATE TRIGGER x AFTER INSERT ON teams BEGIN SELECT 1; END", /no file of a team's/);
    // An unsigned text, which is shown to whoever runs the command.
    const form = JSON.stringify({ format: "\u001b]0;owned\u0007\u009b2J" });
    await change(
      `UPDATE file_manifest SET note = 'a\nteam\n${form}\n\n— a AAAAAAAA\n'`,
      /of the form \?\]0;owned\?\?2J, /,
    );
    await change("CREATE VIEW x AS SELECT 1", /no file of a team's/);
    await change("INSERT INTO alarms VALUES ('x', 1)", /has something in the table alarms/);
    await expectRefused(u, join(u.directory, "reckon.db"), /no file of a team's/);
    // An index that lacks rows of its table: a read through that index would miss them.
    const damaged = join(newFolder(), "damaged");
    copyFileSync(file, damaged);
    const db = new Sqlite(damaged);
    const pageOf = db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?").pluck();
    const index = pageOf.get("telemetry_segments_unsealed") as number;
    const bytes = db.pragma("page_size", { simple: true }) as number;
    db.close();
    writeFileSync(damaged, readFileSync(damaged).fill(0, (index - 1) * bytes, index * bytes));
    await expectRefused(u, damaged, new RegExp(`it is damaged \\(.*page ${index}\\b`));
    await expectRefused(u, join(newFolder(), "nothing"), /there is no file/);
    expect((await team(u, "import", file, "--origin-key", key)).code).toBe(0);
  });

  it("with rows of others is refused, although its maker signed them", async () => {
    const { t, ada } = await shop();
    const u = await startInstance();
    const file = await leave(t, "Acme");
    const sign = async (sql: string, message: RegExp) => {
      const copy = join(newFolder(), "copy");
      copyFileSync(file, copy);
      const db = new Sqlite(copy);
      db.pragma("foreign_keys = OFF");
      db.exec(sql);
      resign(t, db);
      await expectRefused(u, copy, message);
    };
    const token = "'atk_x', x'00', %, NULL, 'x', '[\"admin\"]', 1, 9999999999999, NULL, NULL";
    await sign(
      `INSERT INTO api_tokens VALUES (${token.replace("%", "NULL")})`,
      /rows of others than the team in the table api_tokens/,
    );
    await sign(
      "UPDATE deliveries SET team_id = 'team_x' WHERE id = (SELECT min(id) FROM deliveries)",
      /name what is not in it/,
    );
    await sign("UPDATE trace_sessions SET document = '{}'", /is not what its leaves commit to/);
    await sign(
      "DELETE FROM deliveries WHERE id = (SELECT max(id) FROM deliveries WHERE kind = 'traces')",
      /cannot be used/,
    );
    await sign(
      "DELETE FROM file_nodes WHERE first = (SELECT min(first) FROM file_nodes)",
      /its leaves are not those of the log/,
    );
    await sign(
      "UPDATE file_nodes SET sha256 = zeroblob(32) WHERE first = (SELECT min(first) FROM file_nodes)",
      /its leaves are not those of the log/,
    );
    const target = JSON.stringify({ kind: "device", deviceId: "dev_x" });
    await sign(
      `INSERT INTO erasures VALUES ('era_x', 'device', '${ada.team.id}', '${target}', 'r', 'b', 1, '{}', 2, 2)`,
      /rows of others than the team in the table erasures/,
    );
    const repo = JSON.stringify({ kind: "repo", teamIds: ["team_x"], repoKey: "shop" });
    await sign(
      `INSERT INTO erasures VALUES ('era_x', 'repo', '${ada.team.id}', '${repo}', 'r', 'b', 1, '{}', 2, 2)`,
      /erasures that are not done, or of others/,
    );
    // The next start would go on with an erasure that is not done, and would erase in a restored copy whoever is named.
    for (const [others, completedAt] of [
      [{}, "NULL"],
      [{ deviceIds: ["dev_x"] }, "2"],
      [{ namedOn: ["dev_x"] }, "2"],
    ] as const) {
      const person = JSON.stringify({ kind: "person", personId: "usr_x", deviceIds: [ada.deviceId], ...others });
      await sign(
        `INSERT INTO erasures VALUES ('era_x', 'person', '${ada.team.id}', '${person}', 'r', 'b', 1, '{}', ${completedAt}, NULL)`,
        /erasures that are not done, or of others/,
      );
    }
    // Lists of files that no snapshot has yet, but that a device could get by sending files with that digest.
    for (const entries of ['[["a.md",0]]', '[["a.md","1"]]', '[["a.md",-1]]', "[[]]", '["a.md"]'])
      await sign(
        `INSERT INTO brain_manifests (team_id, sha256, files, bytes, entries) VALUES ('${ada.team.id}', x'00', 1, 1, '${entries}')`,
        /name what is not in it|malformed/,
      );
    for (const id of ["9007199254740993", "9223372036854775000", "-1"])
      await sign(
        `INSERT INTO brain_blobs VALUES (${id}, '${ada.team.id}', x'00', 'r', 1, 'x', NULL, NULL, NULL)`,
        /numbers that no instance gives in the table brain_blobs/,
      );
    // Block 9 would be another team's there.
    for (const table of ["trace_spans", "telemetry_segments", "brain_blobs"])
      await sign(`UPDATE ${table} SET block_id = 9, block_at = 0`, /name what is not in it/);
    for (const column of ["users SET created_at", "devices SET last_seen_at", "teams SET period_end_at"])
      await sign(`UPDATE ${column} = 9000000000000000000`, /numbers that no instance gives in the table/);
    for (const name of ["a;id", "../a", "A\\0b"])
      await sign(
        `INSERT INTO packs VALUES ('pck_x', '${ada.team.id}', replace('${name}', '\\0', char(0)), 't', 's', 'MIT', '[]', 1, 1, NULL, NULL, NULL)`,
        /packs under names that no pack has/,
      );
    // Texts as they were delivered, followed by more than any block holds.
    const original = new Sqlite(file, { readonly: true });
    const packed = original
      .prepare("SELECT content FROM trace_span_blocks ORDER BY id LIMIT 1")
      .pluck()
      .get() as Buffer;
    original.close();
    const bomb = zstdCompressSync(Buffer.concat([zstdDecompressSync(packed), Buffer.alloc(64 * 1024 * 1024)]));
    await sign(
      `UPDATE trace_span_blocks SET content = x'${bomb.toString("hex")}' WHERE id = (SELECT min(id) FROM trace_span_blocks)`,
      /is not what its leaves commit to/,
    );
    // Erasing a person under another's name would take that name out of the record of all teams.
    for (const people of [
      "users SET email = 'command line', email_key = 'command line'",
      "users SET email_key = 'root@example.com'",
      "former_addresses SET email = 'Reckon'",
      "users SET id = 'root@example.com'",
    ])
      await sign(
        `PRAGMA defer_foreign_keys = ON; INSERT INTO former_addresses SELECT id, 'former@example.com' FROM users LIMIT 1;
         UPDATE ${people}; UPDATE memberships SET user_id = (SELECT id FROM users); UPDATE former_addresses SET user_id = (SELECT id FROM users);
         UPDATE devices SET person_id = (SELECT id FROM users) WHERE person_id IS NOT NULL`,
        /people under what no account has/,
      );
  });

  it("takes its name from what its maker signed, and gives nobody a password or rights, whatever its rows say", async () => {
    const { t, file } = await withPack();
    const db = new Sqlite(file);
    db.exec(`UPDATE teams SET name = 'Third' || char(10) || 'x', verified_at = 1, moved_to = 'https://third.example', moved_at = 1;
      UPDATE users SET operator = 1, password_hash = 'x'; UPDATE memberships SET source = 'x'; UPDATE packs SET featured_at = 1`);
    resign(t, db);
    const u = await startInstance();
    await arrive(u, file);
    expect(
      u.rows(`SELECT t.name, verified_at, moved_to, operator, password_hash, source, featured_at
        FROM teams t, users, memberships, packs`),
    ).toEqual([
      {
        ...{ name: "Acme", verified_at: null, moved_to: null, featured_at: null },
        ...{ operator: 0, password_hash: null, source: null },
      },
    ]);
  });

  it("keeps who made what, whether or not they have another account there or have left the team", async () => {
    const { t, ada } = await shop();
    const { core } = t.instance;
    const actor = ({ id, email: label }: User) => ({ kind: "user", id, label, ip: null }) as const;
    const gone = await makeAccount(core, { email: "gone@example.com" });
    await setPolicy(core, ada.team.id, { captureMode: "full" } as never, actor(getUser(core, "ada@example.com")));
    const budget = { scope: "team", subject: "", period: "month", amountUsd: 5 } as const;
    await setBudget(core, ada.team.id, budget, actor(gone));
    const erased = await makeAccount(core, { email: "erased@example.com" });
    await setBudget(core, ada.team.id, { ...budget, period: "week" }, actor(erased));
    await eraseNow(core, { person: erased.id });
    const view = { place: "/sessions", name: "hers", shared: true } as const;
    const { id } = getUser(core, "ada@example.com");
    await saveView(core, ada.team.id, id, { ...view, query: `person=${id}&result=failed` }, COMMAND_LINE);
    const file = await leave(t, "Acme");
    const u = await startInstance();
    const known = await makeAccount(u.instance.core, { email: "Ada@example.com" });
    const { accounts } = await arrive(u, file);
    expect(accounts).toEqual({ made: [gone.email], known: ["ada@example.com"] });
    expect(u.rows("SELECT query FROM saved_views")).toEqual([{ query: `person=${known.id}&result=failed` }]);
    expect(currentVersion(u.instance.core, ada.team.id).createdBy).toBe("Ada@example.com");
    const budgets = (await budgetStandings(u.instance.core, ada.team.id)).map(({ createdBy }) => createdBy);
    expect(budgets).toEqual([gone.email, `erased-${erased.id}`]);
    expect(u.rows("SELECT count(*) AS n FROM memberships")).toEqual([{ n: 1 }]);
  });

  it("is erased of a person who had an account there, with the addresses that they had where it came from", async () => {
    const { t, ada } = await shop();
    const { core } = t.instance;
    const former = { kind: "user", id: "usr_x", label: "zinnia@example.com", ip: null } as const;
    await core.store.write(() =>
      storePerson(core, getUser(core, "ada@example.com"), { email: former.label, name: null }, SYSTEM),
    );
    await renameDevice(core, ada.team.id, ada.deviceId, "tall", former);
    await core.store.write(() =>
      storePerson(core, getUser(core, former.label), { email: "ada@example.com", name: null }, SYSTEM),
    );
    const file = await leave(t, "Acme");
    const u = await startInstance();
    await makeAccount(u.instance.core, { email: "ada@example.com" });
    // They had one of these addresses there, too.
    u.rows("INSERT INTO former_addresses SELECT id, ? FROM users RETURNING 1", former.label);
    await arrive(u, file);
    expect(filesWith(u.directory, "zinnia")).not.toEqual([]);
    const target = resolveTarget(u.instance.core, { person: "ada@example.com" });
    await carryOut(u.instance.core, await requestErasure(u.instance.core, target, "they wanted it", COMMAND_LINE));
    expect(filesWith(u.directory, "zinnia")).toEqual([]);
    expect(faults(u)).toEqual([]);
  });

  it("brings no erasure of somebody who had an account there", async () => {
    const { t, ada } = await shop();
    const { id: person } = t.rows("SELECT id FROM users WHERE email = 'ada@example.com'")[0];
    const target = JSON.stringify({ kind: "person", personId: person, deviceIds: [] });
    t.instance.core.store.db.exec(
      `INSERT INTO erasures VALUES ('era_x', 'person', '${ada.team.id}', '${target}', 'r', 'b', 1, '{}', 2, 2)`,
    );
    const file = await leave(t, "Acme");
    const u = await startInstance();
    await makeAccount(u.instance.core, { email: "ada@example.com", operator: true });
    await arrive(u, file);
    expect(u.rows("SELECT json_extract(target, '$.personId') AS person FROM erasures")).toEqual([{ person: "" }]);
  });

  it("is made whole or not at all, and never over another", async () => {
    const { t } = await shop();
    const file = join(newFolder(), "team");
    expect((await team(t, "export", "Acme", "--out", file)).code).toBe(0);
    const again = await team(t, "export", "Acme", "--out", file);
    expect([again.code, again.err]).toEqual([1, expect.stringContaining("never overwrites")]);
    expect(existsSync(`${file}.partial`)).toBe(false);
  });

  it("is made only once a running erasure is done", async () => {
    const { t, ada } = await shop();
    const { core } = t.instance;
    const asked = await requestErasure(core, resolveTarget(core, { device: ada.deviceId }), "asked for", COMMAND_LINE);
    const file = join(newFolder(), "team");
    const early = await team(t, "export", "Acme", "--out", file);
    expect([early.code, early.err]).toEqual([1, expect.stringContaining("is being erased")]);
    expect([existsSync(file), existsSync(`${file}.partial`)]).toEqual([false, false]);
    await carryOut(core, asked);
    expect((await team(t, "export", "Acme", "--out", file)).code).toBe(0);
    expect(readFileSync(file).includes("marigold")).toBe(false);
  });
});
