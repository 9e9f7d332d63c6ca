import { join } from "node:path";
import Sqlite, { type Database } from "better-sqlite3";
import { expect, it, onTestFinished } from "vitest";
import { readConfig } from "../../../src/config.ts";
import { systemClock } from "../../../src/kit/clock.ts";
import { createLog, silentLog } from "../../../src/kit/log.ts";
import { systemRandom } from "../../../src/kit/random.ts";
import { CURRENT_SCHEMA, upgrade } from "../../../src/platform/store/migrate.ts";
import { openStore } from "../../../src/platform/store/store.ts";
import { verifyLedger } from "../../../src/share/maintenance/maintenance.ts";
import { entriesOf } from "../../support/entries.ts";
import { firstSchemaDirectory } from "../../support/older.ts";

const NOW = "2026-11-21T08:00:00.000Z";
const at = (repoKey: string, seqs: readonly number[], more: object = {}) => ({
  repoKey,
  entries: seqs.map((seq) => ({ seq, payload: { text: `Grüße ${seq} \u{1f600}`, ...more } })),
});
const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

/** Several streams in turn, gaps filled later, repeats and contradictions. */
const DELIVERED = [
  at("r", [2, 3, 4]),
  at("s", [1, 2, 3, 9, 12]),
  at("r", [5, 9, 10]),
  at("s", [4, 10, 11, 15]),
  { repoKey: "r", entries: [{ seq: 12, payload: { a: '"\\\n' }, clientTimestamp: "2026-11-20T08:00:00+01:00" }] },
  at("r", [6, 7, 11]),
  at("r", [2, 3, 13], { other: "history" }),
  at("t", numbers(1, 900)),
  at("t", numbers(901, 1_800)),
];

const verify = (directory: string, anchor?: { id: number; chainSha256: string }) => {
  const store = openStore(directory, { now: systemClock.now, older: "look" });
  try {
    const config = readConfig({ data: directory }, {});
    const core = { config, clock: systemClock, random: systemRandom, log: silentLog, store, state: new Map() };
    return verifyLedger(core, anchor, () => {});
  } finally {
    store.close();
  }
};

const rowsOf = (db: Database) =>
  db.prepare("SELECT id, stream_id, seq, delivery_id, client_timestamp, payload FROM telemetry_entries ORDER BY id");

it.each(CURRENT_SCHEMA.migrations.filter(({ version }) => version <= 12).map(({ version }) => version - 1))(
  "entries of a database of schema %s are carried into segments, with their numbers and every byte, and the ledger verifies",
  async (version) => {
    const directory = await firstSchemaDirectory(DELIVERED);
    const db = new Sqlite(join(directory, "reckon.db"));
    onTestFinished(() => void db.close());
    const migrations = CURRENT_SCHEMA.migrations.filter((one) => one.version <= version);
    upgrade(db, directory, NOW, silentLog, { ...CURRENT_SCHEMA, version, migrations });
    // As if something was removed long ago: ids may have holes.
    db.exec("UPDATE telemetry_entries SET id = id + 100000 WHERE delivery_id >= 4");
    const before = rowsOf(db).raw().all();
    expect(before).toHaveLength(1_821);
    const proved = verify(directory);
    expect(proved.faults).toEqual([]);
    upgrade(db, directory, NOW, silentLog);
    expect(entriesOf(db)).toEqual(before);
    // The head that was noted before still proves that nothing up to it changed.
    expect(verify(directory, proved.head ?? undefined)).toMatchObject({ deliveries: proved.deliveries, faults: [] });
    const segments = db
      .prepare(
        `SELECT s.repo_key, first_seq, last_seq, entries FROM telemetry_segments JOIN telemetry_streams s ON s.id = stream_id
         WHERE s.repo_key <> 't' ORDER BY 1, 2`,
      )
      .raw()
      .all();
    expect(segments).toEqual([
      ["r", 1, 1, 1],
      ["r", 2, 4, 3],
      ["r", 5, 5, 1],
      ["r", 6, 7, 2],
      ["r", 9, 10, 2],
      ["r", 11, 11, 1],
      ["r", 12, 12, 1],
      ["r", 13, 13, 1],
      ["s", 1, 3, 3],
      ["s", 4, 4, 1],
      ["s", 9, 9, 1],
      ["s", 10, 11, 2],
      ["s", 12, 12, 1],
      ["s", 15, 15, 1],
    ]);
    expect(db.pragma("integrity_check", { simple: true })).toBe("ok");
  },
);

it("shows its progress where entries are many", async () => {
  const directory = await firstSchemaDirectory();
  const db = new Sqlite(join(directory, "reckon.db"));
  onTestFinished(() => void db.close());
  db.exec(`WITH RECURSIVE numbers (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM numbers WHERE n < 50000)
    INSERT INTO telemetry_entries (stream_id, seq, delivery_id, payload) SELECT 1, n, 1, '{}' FROM numbers`);
  const lines: string[] = [];
  upgrade(db, directory, NOW, createLog({ level: "info", now: () => 0, write: (line) => lines.push(line) }));
  const told = lines.map((line) => JSON.parse(line)).filter(({ event }) => event === "schema_upgrade_progress");
  expect(told.map(({ percent }) => percent)).toEqual(Array.from({ length: 20 }, (_, i) => 5 * (i + 1)));
  expect(db.prepare("SELECT max(entries), count(*), sum(entries) FROM telemetry_segments").raw().get()).toEqual([
    1_000, 50, 50_000,
  ]);
});
