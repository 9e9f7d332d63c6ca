import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Database } from "better-sqlite3";
import { readAsset } from "../kit/assets.ts";
import { DataDirectoryError } from "../kit/unavailable.ts";

/** "RKON" in SQLite's application_id, so that a foreign database is not mistaken for ours. */
const APPLICATION_ID = 0x524b4f4e;

/** A step from one schema version to the next; `file` is an asset path. */
export interface Migration {
  readonly version: number;
  readonly file: string;
}

/** Steps for files older than `schema.sql`, oldest first. A new step also changes `schema.sql`. */
const MIGRATIONS: readonly Migration[] = [
  { version: 2, file: "src/store/migrations/0002-people.sql" },
  { version: 3, file: "src/store/migrations/0003-public.sql" },
  { version: 4, file: "src/store/migrations/0004-defects.sql" },
  { version: 5, file: "src/store/migrations/0005-link-makers.sql" },
];

export interface SchemaPlan {
  readonly version: number;
  readonly migrations: readonly Migration[];
  readonly read: (asset: string) => string;
}

export const CURRENT_SCHEMA: SchemaPlan = { version: 1 + MIGRATIONS.length, migrations: MIGRATIONS, read: readAsset };

const userVersion = (db: Database) => db.pragma("user_version", { simple: true }) as number;

/** @throws DataDirectoryError when the file is newer than this program or is not ours. */
export function requireOurs(db: Database, plan: SchemaPlan = CURRENT_SCHEMA): void {
  if (db.pragma("application_id", { simple: true }) !== APPLICATION_ID)
    throw new DataDirectoryError(`${db.name} is a database of another program; choose another directory`);
  const version = userVersion(db);
  if (version > plan.version)
    throw new DataDirectoryError(
      `${db.name} was written by a newer Reckon (schema ${version}; this program knows up to ${plan.version}): ` +
        "run the newer program, or restore a backup made before the upgrade with: reckon restore FILE",
    );
}

/**
 * Brings a database to the schema of this program: a new file gets `schema.sql`, an older one is first copied to
 * `backups/` and then taken through the numbered migrations in one transaction.
 * @param exclusively runs the migration while no server has the directory; called only when there is something to migrate.
 * @throws DataDirectoryError when the file is newer than this program or is not ours.
 */
export function migrate(
  db: Database,
  directory: string,
  nowIso: string,
  exclusively: (work: () => void) => void,
  plan: SchemaPlan = CURRENT_SCHEMA,
): void {
  let version = userVersion(db);
  if (version === 0) {
    db.transaction(() => {
      if (userVersion(db) !== 0) return;
      const tables = db.prepare("SELECT count(*) FROM sqlite_schema").pluck().get() as number;
      if (tables > 0)
        throw new DataDirectoryError(`${db.name} is a database of another program; choose another directory`);
      db.exec(plan.read("schema.sql"));
      db.pragma(`application_id = ${APPLICATION_ID}`);
      db.pragma(`user_version = ${plan.version}`);
    }).immediate();
    version = userVersion(db);
  }
  requireOurs(db, plan);
  if (version < plan.version) exclusively(() => upgrade(db, directory, nowIso, plan));
}

function upgrade(db: Database, directory: string, nowIso: string, plan: SchemaPlan): void {
  const from = userVersion(db);
  if (from >= plan.version) return;
  const backups = join(directory, "backups");
  mkdirSync(backups, { recursive: true, mode: 0o700 });
  const copy = join(backups, `before-schema-${plan.version}-${nowIso.replace(/[:.]/g, "-")}.db`);
  db.prepare("VACUUM INTO ?").run(copy);
  db.pragma("foreign_keys = OFF");
  db.transaction(() => {
    for (const step of plan.migrations) if (step.version > from) db.exec(plan.read(step.file));
    const broken = db.pragma("foreign_key_check") as unknown[];
    if (broken.length > 0)
      throw new DataDirectoryError(`the migration to schema ${plan.version} does not fit ${db.name}`);
    db.pragma(`user_version = ${plan.version}`);
  }).immediate();
  db.pragma("foreign_keys = ON");
}
