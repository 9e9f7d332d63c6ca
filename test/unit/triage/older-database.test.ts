import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, it, onTestFinished } from "vitest";
import { silentLog } from "../../../src/kit/log.ts";
import { CURRENT_SCHEMA, upgrade } from "../../../src/platform/store/migrate.ts";
import { firstSchemaDirectory } from "../../support/older.ts";

const NOW = "2026-11-21T08:00:00.000Z";

it("lists the classes of the entries that an older database has", async () => {
  const directory = await firstSchemaDirectory();
  const db = new Sqlite(join(directory, "reckon.db"));
  onTestFinished(() => void db.close());
  const own = CURRENT_SCHEMA.migrations.find(({ file }) => file.endsWith("-triage.sql"))?.version ?? 0;
  const migrations = CURRENT_SCHEMA.migrations.filter(({ version }) => version < own);
  upgrade(db, directory, NOW, silentLog, { ...CURRENT_SCHEMA, version: own - 1, migrations });
  const insert = db.prepare(
    `INSERT INTO defects (team_id, repo_key, path, kind, heading, ordinal, date, title, line, open, fingerprint, rule, commits, files)
     SELECT id, @repo, 'errors.md', 'error', @title, 0, @date, @title, @line, @open, unhex(@class || 'ffff'), @rule, '[]', '[]'
     FROM teams LIMIT 1`,
  );
  const add = (title: string, date: string, one: object = {}) =>
    insert.run({ title, date, repo: "shop", line: 1, open: 0, class: "aaaaaaaa", rule: "Look twice.", ...one });
  add("Middle", "2026-10-02");
  add("First", "2026-10-01", { repo: "till" });
  add("Newest", "2026-10-03", { open: 1 });
  add("Newest, below", "2026-10-03", { line: 9 });
  add("Alone", "2026-09-01", { class: "bbbbbbbb", rule: null });
  upgrade(db, directory, NOW, silentLog);
  const shared = { kind: "error", recent: "[]" };
  const { id: newestId } = db.prepare("SELECT id FROM defects WHERE title = 'Newest'").get() as { id: number };
  expect(db.prepare("SELECT * FROM triage_classes ORDER BY class").all()).toEqual([
    expect.objectContaining({
      ...{ ...shared, class: "aaaaaaaa", occurrences: 4, open: 1, first_seen: "2026-10-01", last_seen: "2026-10-03" },
      ...{ first_repo: "till", repos: '["shop","till"]', repo_key: "shop", title: "Newest", rule: "Look twice." },
      newest_id: newestId,
    }),
    expect.objectContaining({ ...shared, class: "bbbbbbbb", occurrences: 1, open: 0, title: "Alone", rule: null }),
  ]);
});
