import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, it, onTestFinished } from "vitest";
import { silentLog } from "../../../src/kit/log.ts";
import { CURRENT_SCHEMA, upgrade } from "../../../src/platform/store/migrate.ts";
import { firstSchemaDirectory } from "../../support/older.ts";

const NOW = "2026-11-21T08:00:00.000Z";

/** A database of the schema in which links named places, and the checkpoint of defects held two numbers. */
async function schema7() {
  const directory = await firstSchemaDirectory();
  const db = new Sqlite(join(directory, "reckon.db"));
  onTestFinished(() => void db.close());
  const migrations = CURRENT_SCHEMA.migrations.filter(({ version }) => version <= 7);
  upgrade(db, directory, NOW, silentLog, { ...CURRENT_SCHEMA, version: 7, migrations });
  const link = db.prepare(
    `INSERT INTO causal_links SELECT @id, team_id, 'r', 'errors.md', '2026-11-20 Loop', @ordinal, '2026-11-20', x'00', 'weak',
       @origin, id, NULL, NULL, '[]', @verdict, NULL, NULL, 0, 0, @entry, @goneAfter FROM trace_sessions`,
  );
  const insert = (id: string, entry: number, ordinal: number, more: object = {}) =>
    link.run({ id, entry, ordinal, origin: "computed", verdict: null, goneAfter: null, ...more });
  return { db, insert, migrate: () => upgrade(db, directory, NOW, silentLog) };
}

it("keeps the links of an older database, one for each session and entry, and those of entries that are gone", async () => {
  const { db, insert, migrate } = await schema7();
  insert("here", 1, 0);
  insert("moved", 2, 1);
  insert("moved twice", 2, 2);
  insert("judged", 3, 3, { verdict: "rejected" });
  insert("judged, anew", 3, 4);
  insert("person", 3, 4, { origin: "person" });
  insert("gone", 4, -4, { verdict: "confirmed", goneAfter: 9 });
  migrate();
  expect(db.prepare("SELECT id, entry_id AS entry, ordinal, gone_after AS goneAfter FROM causal_links").all()).toEqual([
    { id: "here", entry: 1, ordinal: 0, goneAfter: null },
    { id: "moved", entry: 2, ordinal: 1, goneAfter: null },
    { id: "judged", entry: 3, ordinal: 3, goneAfter: null },
    { id: "person", entry: 3, ordinal: 4, goneAfter: null },
    { id: "gone", entry: 4, ordinal: 0, goneAfter: 9 },
  ]);
});

it.each([
  ["nothing is read", 0, 0],
  ["snapshot 3 is read", 3 * 4_096 + 4_095, 3],
  ["two parts of snapshot 3 are stored", 3 * 4_096 + 2, 2],
  ["the only part but one of the first snapshot is stored", 4_096 + 1, 0],
])("continues from its checkpoint when %s, and keeps the failures noted before", async (_, checkpoint, expected) => {
  const { db, migrate } = await schema7();
  db.prepare("INSERT INTO projections VALUES ('defects', ?), ('links', 12345)").run(checkpoint);
  db.exec(
    `INSERT INTO projection_failures VALUES ('defects', ${3 * 4_096}, 0, 'a file'), ('defects', ${5 * 4_096 + 4_095}, 0, 'a brain'),
       ('links', 12345, 0, 'x')`,
  );
  migrate();
  expect(db.prepare("SELECT name, checkpoint, part FROM projections").all()).toEqual([
    { name: "defects", checkpoint: expected, part: 0 },
    { name: "links", checkpoint: 12_345, part: 0 },
  ]);
  expect(db.prepare("SELECT checkpoint FROM projection_failures ORDER BY name, checkpoint").pluck().all()).toEqual([
    3, 5, 12_345,
  ]);
});
