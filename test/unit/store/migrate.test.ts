import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, it, onTestFinished } from "vitest";
import { createLog, silentLog } from "../../../src/kit/log.ts";
import { CURRENT_SCHEMA, createSchema, type SchemaPlan, upgrade } from "../../../src/platform/store/migrate.ts";
import { openStore } from "../../../src/platform/store/store.ts";
import { newFolder } from "../../support/folder.ts";

const NOW = "2026-11-21T08:00:00.000Z";
const V1: SchemaPlan = { version: 1, migrations: [], read: () => "CREATE TABLE things (a TEXT) STRICT;" };
const V3: SchemaPlan = {
  version: 3,
  migrations: [
    { version: 2, file: "two" },
    { version: 3, file: "three" },
  ],
  read: (file) =>
    ({
      "schema.sql": "CREATE TABLE things (a TEXT, b INTEGER, c INTEGER) STRICT;",
      two: "ALTER TABLE things ADD COLUMN b INTEGER;",
      three: "ALTER TABLE things ADD COLUMN c INTEGER; UPDATE things SET c = 7;",
    })[file] as string,
};
function migrate(db: Sqlite.Database, directory: string, plan: SchemaPlan, log = silentLog): void {
  createSchema(db, plan);
  upgrade(db, directory, NOW, log, plan);
}

const shape = (db: Sqlite.Database) =>
  (db.pragma("table_info(things)") as { name: string }[]).map((column) => column.name);

it("takes an older file through every step to the shape a new one has, after copying it aside", () => {
  const directory = newFolder();
  const db = new Sqlite(join(directory, "reckon.db"));
  migrate(db, directory, V1);
  db.prepare("INSERT INTO things VALUES ('kept')").run();
  migrate(db, directory, V3);
  const fresh = new Sqlite(":memory:");
  migrate(fresh, directory, V3);
  expect(shape(db)).toEqual(shape(fresh));
  expect(db.prepare("SELECT * FROM things").all()).toEqual([{ a: "kept", b: null, c: 7 }]);
  const [copy = ""] = readdirSync(join(directory, "backups"));
  const before = new Sqlite(join(directory, "backups", copy), { readonly: true });
  expect([shape(before), before.pragma("user_version", { simple: true })]).toEqual([["a"], 1]);
  for (const one of [db, fresh, before]) one.close();
});

it("puts aside a backup with the keys and prices in it, says where, and leaves nothing of an earlier attempt", () => {
  const directory = newFolder();
  const db = new Sqlite(join(directory, "reckon.db"));
  onTestFinished(() => void db.close());
  migrate(db, directory, V1);
  const backups = join(directory, "backups");
  mkdirSync(backups);
  mkdirSync(join(directory, "retired-keys"));
  const carried = { "signing-key.pem": "KEY", "retired-keys/old.pem": "OLD", "prices.json": "{}" };
  for (const [name, content] of Object.entries(carried)) writeFileSync(join(directory, name), content);
  writeFileSync(join(directory, "retired-keys/notes.txt"), "no key");
  for (const ending of ["", "-journal"]) writeFileSync(join(backups, `before-schema-3-x.db.partial${ending}`), "half");
  writeFileSync(join(backups, "mine.db.partial"), "not ours");
  const lines: string[] = [];
  migrate(db, directory, V3, createLog({ level: "info", now: () => 0, write: (line) => lines.push(line) }));
  const copy = "before-schema-3-2026-11-21T08-00-00-000Z.db";
  expect(readdirSync(backups).sort()).toEqual([copy, "mine.db.partial"]);
  const before = new Sqlite(join(backups, copy), { readonly: true });
  onTestFinished(() => void before.close());
  const held = before.prepare("SELECT name, content FROM backup_files").all() as { name: string; content: string }[];
  expect(Object.fromEntries(held.map(({ name, content }) => [name, content]))).toEqual(carried);
  expect(before.prepare("SELECT * FROM backup_facts").all()).toEqual([{ made_at: NOW }]);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { event: "schema_upgrading", from: 1, to: 3 },
    { event: "schema_upgrade_step", step: 2, to: 3 },
    { event: "schema_upgrade_step", step: 3, to: 3 },
    { event: "schema_upgraded", from: 1, to: 3, backup: join(backups, copy) },
  ]);
});

it("upgrades nothing when the backup cannot be written, says so, and leaves no half of it", () => {
  const directory = newFolder();
  const db = new Sqlite(join(directory, "reckon.db"));
  onTestFinished(() => void db.close());
  migrate(db, directory, V1);
  writeFileSync(join(directory, "backups"), "in the way");
  expect(() => migrate(db, directory, V3)).toThrow(/backup .* cannot be written .*nothing was upgraded.*free space/);
  expect([shape(db), readdirSync(directory).sort()]).toEqual([["a"], ["backups", "reckon.db"]]);
});

it("names, for a program that is too old, the newest backup of an upgrade that it can restore", () => {
  const directory = newFolder();
  const db = new Sqlite(join(directory, "reckon.db"));
  onTestFinished(() => void db.close());
  migrate(db, directory, V3);
  const backups = join(directory, "backups");
  mkdirSync(backups);
  const put = (name: string, version: number, whole = true) => {
    const copy = new Sqlite(join(backups, name));
    if (whole) copy.exec("CREATE TABLE backup_files (name TEXT)");
    copy.pragma(`user_version = ${version}`);
    copy.close();
  };
  const refusal = (plan: SchemaPlan) => {
    try {
      createSchema(db, plan);
    } catch (error) {
      return (error as Error).message;
    }
    return "";
  };
  put("before-schema-3-2026-05-01T00-00-00-000Z.db", 2);
  put("before-schema-9-2026-04-01T00-00-00-000Z.db", 1, false);
  writeFileSync(join(backups, "before-schema-9-2026-06-01T00-00-00-000Z.db"), "");
  expect(refusal(V1)).toContain("restore a backup made before the upgrade with: reckon restore FILE");
  put("before-schema-2-2026-02-01T00-00-00-000Z.db", 1);
  put("before-schema-3-2026-03-01T00-00-00-000Z.db", 1);
  put("before-schema-9-2026-01-01T00-00-00-000Z.db", 0);
  expect(refusal(V1)).toContain(
    `reckon restore ${join(backups, "before-schema-3-2026-03-01T00-00-00-000Z.db")} --data ${directory}`,
  );
});

it("leaves the file as it was when a step fails", () => {
  const directory = newFolder();
  const db = new Sqlite(join(directory, "reckon.db"));
  migrate(db, directory, V1);
  const broken = { ...V3, read: (file: string) => (file === "three" ? "NONSENSE" : V3.read(file)) };
  expect(() => migrate(db, directory, broken)).toThrow();
  expect([shape(db), db.pragma("user_version", { simple: true })]).toEqual([["a"], 1]);
  // A service manager starts it again and again, and no backups pile up.
  expect(readdirSync(join(directory, "backups"))).toEqual([]);
  db.close();
});

it("leaves the file as it was when a step makes rows that refer to missing ones", () => {
  const directory = newFolder();
  const db = new Sqlite(join(directory, "reckon.db"));
  onTestFinished(() => void db.close());
  migrate(db, directory, V1);
  const parts =
    "CREATE TABLE boxes (id INTEGER PRIMARY KEY); CREATE TABLE parts (box INTEGER REFERENCES boxes (id)); INSERT INTO parts VALUES (1);";
  const dangling = { ...V3, read: (file: string) => (file === "three" ? parts : V3.read(file)) };
  expect(() => migrate(db, directory, dangling)).toThrow("the migration to schema 3 does not fit");
  expect([shape(db), db.pragma("user_version", { simple: true })]).toEqual([["a"], 1]);
  expect([readdirSync(join(directory, "backups")), db.pragma("foreign_keys", { simple: true })]).toEqual([[], 1]);
});

it("refuses a newer file and a foreign one without touching them", () => {
  const directory = newFolder();
  const db = new Sqlite(join(directory, "reckon.db"));
  migrate(db, directory, V3);
  expect(() => migrate(db, directory, V1)).toThrow(/newer Reckon \(schema 3; this program knows up to 1\)/);
  const foreign = new Sqlite(":memory:");
  foreign.exec("CREATE TABLE notes (a)");
  expect(() => migrate(foreign, directory, V1)).toThrow("another program");
  expect(existsSync(join(directory, "backups"))).toBe(false);
  db.close();
});

it("opens a new store with the settings that durability needs, closed to other users", () => {
  const directory = join(newFolder(), "data");
  const umask = process.umask(0o077);
  const store = openStore(directory, { now: () => 0 });
  process.umask(umask);
  onTestFinished(() => store.close());
  const read = (name: string) => store.db.pragma(name, { simple: true });
  expect([
    read("journal_mode"),
    read("synchronous"),
    read("foreign_keys"),
    read("wal_autocheckpoint"),
    read("user_version"),
  ]).toEqual(["wal", 2, 1, 0, CURRENT_SCHEMA.version]);
  expect(statSync(directory).mode & 0o077).toBe(0);
  expect(statSync(join(directory, "reckon.db")).mode & 0o077).toBe(0);
});

it("keeps every table strict", () => {
  const store = openStore(join(newFolder(), "data"), { now: () => 0 });
  onTestFinished(() => store.close());
  const lax = store.db
    .prepare(
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND strict = 0 AND name NOT LIKE 'sqlite_%'",
    )
    .pluck()
    .all();
  expect(lax).toEqual([]);
});

it("brings a file of the first schema to the shape of a new one, with its deliveries counted by day", () => {
  const directory = newFolder();
  const old = new Sqlite(join(directory, "reckon.db"));
  const first = readFileSync(join(import.meta.dirname, "../../support/schema-1.sql"), "utf8");
  migrate(old, directory, { version: 1, migrations: [], read: () => first });
  const at = Date.UTC(2026, 10, 20, 23, 59);
  old.exec(`INSERT INTO teams VALUES ('team_1', 'One', 'team', 5, 'active', 0, NULL, NULL, 0);
    INSERT INTO devices VALUES ('dev_1', 'team_1', 'build', '1', 0, NULL, NULL);
    INSERT INTO policies VALUES (1, 'team_1', '{}', 0)`);
  const deliver = old.prepare(
    "INSERT INTO deliveries VALUES (?, 'team_1', 'dev_1', ?, '', NULL, ?, ?, 0, ?, x'00', x'00')",
  );
  deliver.run(1, "telemetry", at, 10, null);
  deliver.run(2, "telemetry", at + 30_000, 5, "gap");
  deliver.run(3, "telemetry", at + 120_000, 1, "rollback");
  deliver.run(4, "brain", at, 3, null);
  migrate(old, directory, CURRENT_SCHEMA);
  const fresh = new Sqlite(":memory:");
  migrate(fresh, directory, CURRENT_SCHEMA);
  const layout = (db: Sqlite.Database) =>
    (db.pragma("table_list") as { name: string }[])
      .map(({ name }) => name)
      .sort()
      .map((name) => [
        name,
        db.pragma(`table_xinfo(${name})`),
        db.pragma(`foreign_key_list(${name})`),
        (db.pragma(`index_list(${name})`) as { name: string }[])
          .map((index) => [index.name, db.pragma(`index_xinfo(${index.name})`)])
          .sort(),
      ]);
  expect(layout(old)).toEqual(layout(fresh));
  const triggers = (db: Sqlite.Database) =>
    db.prepare("SELECT name, tbl_name AS of, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY name").all();
  expect(triggers(old)).toEqual(triggers(fresh));
  const checks = (db: Sqlite.Database) =>
    (db.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'table'").all() as { name: string; sql: string }[])
      .flatMap(({ name, sql }) =>
        [...sql.matchAll(/CHECK \([^()]*(?:\([^()]*\)[^()]*)*\)/g)].map(([check]) => `${name} ${check}`),
      )
      .sort();
  expect(checks(old)).toEqual(checks(fresh));
  expect(old.prepare("SELECT id, name, tier, seats, subscription FROM teams").all()).toEqual([
    { id: "team_1", name: "One", tier: "team", seats: 5, subscription: "active" },
  ]);
  expect(old.pragma("foreign_key_check")).toEqual([]);
  const day = Math.floor(at / 86_400_000);
  expect(
    old.prepare("SELECT kind, day, deliveries, items, gaps, rollbacks FROM delivery_days ORDER BY 1, 2").all(),
  ).toEqual([
    { kind: "brain", day, deliveries: 1, items: 3, gaps: 0, rollbacks: 0 },
    { kind: "telemetry", day, deliveries: 2, items: 15, gaps: 1, rollbacks: 0 },
    { kind: "telemetry", day: day + 1, deliveries: 1, items: 1, gaps: 0, rollbacks: 1 },
  ]);
  expect(old.prepare("SELECT label, user_agent FROM devices").all()).toEqual([{ label: "build", user_agent: null }]);
  old.close();
  fresh.close();
});
