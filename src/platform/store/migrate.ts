import { dirname } from "node:path";
import type { Database } from "better-sqlite3";
import { readAsset } from "../../kit/assets.ts";
import { DataDirectoryError } from "../../kit/errors.ts";
import type { Log } from "../../kit/log.ts";
import { leafHash } from "../../kit/merkle.ts";
import { shellWord } from "../../kit/strings.ts";
import { moveEntries } from "./migrations/0012-segments.ts";
import { findPutAside, putAside } from "./put-aside.ts";

/** "RKON" in SQLite's application_id, so that a foreign database is not mistaken for ours. */
const APPLICATION_ID = 0x524b4f4e;

/** A step from one schema version to the next; `file` is an asset path. */
interface Migration {
  readonly version: number;
  readonly file: string;
  /** Runs after the file, in the same transaction, when SQL alone is not enough; keeps only a bounded part in memory. */
  readonly move?: (db: Database, onProgress: (done: number, all: number) => void) => void;
}

/** Steps for files older than `schema.sql`, oldest first. A new step also changes `schema.sql`. */
const MIGRATIONS: readonly Migration[] = [
  { version: 2, file: "src/platform/store/migrations/0002-people.sql" },
  { version: 3, file: "src/platform/store/migrations/0003-public.sql" },
  { version: 4, file: "src/platform/store/migrations/0004-defects.sql" },
  { version: 5, file: "src/platform/store/migrations/0005-link-makers.sql" },
  { version: 6, file: "src/platform/store/migrations/0006-tier-none.sql" },
  { version: 7, file: "src/platform/store/migrations/0007-names.sql" },
  { version: 8, file: "src/platform/store/migrations/0008-jobs.sql" },
  { version: 9, file: "src/platform/store/migrations/0009-parts-and-entries.sql" },
  { version: 10, file: "src/platform/store/migrations/0010-whose-devices.sql" },
  { version: 11, file: "src/platform/store/migrations/0011-capture-mode.sql" },
  { version: 12, file: "src/platform/store/migrations/0012-segments.sql", move: moveEntries },
  { version: 13, file: "src/platform/store/migrations/0013-tree.sql" },
  { version: 14, file: "src/platform/store/migrations/0014-erasures.sql" },
  { version: 15, file: "src/platform/store/migrations/0015-api-tokens.sql" },
  { version: 16, file: "src/platform/store/migrations/0016-otlp.sql" },
  { version: 17, file: "src/platform/store/migrations/0017-notes.sql" },
  { version: 18, file: "src/platform/store/migrations/0018-notifications.sql" },
  { version: 19, file: "src/platform/store/migrations/0019-sso.sql" },
  { version: 20, file: "src/platform/store/migrations/0020-second-factor.sql" },
  { version: 21, file: "src/platform/store/migrations/0021-device-reads.sql" },
  { version: 22, file: "src/platform/store/migrations/0022-days.sql" },
  { version: 23, file: "src/platform/store/migrations/0023-finds.sql" },
  { version: 24, file: "src/platform/store/migrations/0024-triage.sql" },
  { version: 25, file: "src/platform/store/migrations/0025-session-figures.sql" },
  { version: 26, file: "src/platform/store/migrations/0026-budgets.sql" },
  { version: 27, file: "src/platform/store/migrations/0027-saved-views.sql" },
  { version: 28, file: "src/platform/store/migrations/0028-scim.sql" },
  { version: 29, file: "src/platform/store/migrations/0029-roles.sql" },
  { version: 30, file: "src/platform/store/migrations/0030-wrapped-keys.sql" },
  { version: 31, file: "src/platform/store/migrations/0031-told-once.sql" },
  { version: 32, file: "src/platform/store/migrations/0032-moves.sql" },
  { version: 33, file: "src/platform/store/migrations/0033-lake.sql" },
  { version: 34, file: "src/platform/store/migrations/0034-sessions-once.sql" },
  { version: 35, file: "src/platform/store/migrations/0035-long-sessions.sql" },
  { version: 36, file: "src/platform/store/migrations/0036-due-by-channel.sql" },
  { version: 37, file: "src/platform/store/migrations/0037-who-was-signed-in.sql" },
  { version: 38, file: "src/platform/store/migrations/0038-sessions-by-cause.sql" },
  { version: 39, file: "src/platform/store/migrations/0039-entries-gone.sql" },
  { version: 40, file: "src/platform/store/migrations/0040-makers.sql" },
  { version: 41, file: "src/platform/store/migrations/0041-reclaimed.sql" },
  { version: 42, file: "src/platform/store/migrations/0042-machines-of-one-job.sql" },
  { version: 43, file: "src/platform/store/migrations/0043-holders.sql" },
  { version: 44, file: "src/platform/store/migrations/0044-no-queue.sql" },
  { version: 45, file: "src/platform/store/migrations/0045-nightly-runs.sql" },
  { version: 46, file: "src/platform/store/migrations/0046-references.sql" },
  { version: 47, file: "src/platform/store/migrations/0047-span-blocks.sql" },
  { version: 48, file: "src/platform/store/migrations/0048-brain-blocks.sql" },
];

export interface SchemaPlan {
  readonly version: number;
  readonly migrations: readonly Migration[];
  readonly read: (asset: string) => string;
}

export const CURRENT_SCHEMA: SchemaPlan = {
  version: MIGRATIONS.at(-1)?.version ?? 1,
  migrations: MIGRATIONS,
  read: readAsset,
};

/** The schema version that a database says it has; 0 for an empty file. */
export const schemaVersion = (db: Database) => db.pragma("user_version", { simple: true }) as number;

/** @throws DataDirectoryError when the file is newer than this program or is not ours. */
export function requireOurs(db: Database, plan: SchemaPlan = CURRENT_SCHEMA): void {
  if (db.pragma("page_count", { simple: true }) === 0)
    throw new DataDirectoryError(`${db.name} is empty, like a copy that was cut off at once`);
  if (db.pragma("application_id", { simple: true }) !== APPLICATION_ID)
    throw new DataDirectoryError(`${db.name} is a database of another program; choose another directory`);
  const version = schemaVersion(db);
  if (version <= plan.version) return;
  const directory = dirname(db.name);
  const copy = findPutAside(directory, plan.version);
  throw new DataDirectoryError(
    `${db.name} was written by a newer Reckon (schema ${version}; this program knows up to ${plan.version}): run the newer ` +
      `program, or restore ${
        copy === undefined
          ? "a backup made before the upgrade with: reckon restore FILE"
          : `what the upgrade put aside, without what came since, with: reckon restore ${shellWord(copy)} --data ${shellWord(directory)}`
      }`,
  );
}

/**
 * Refuses an older database: only a starting server upgrades one, because a migration cannot be undone.
 * @throws DataDirectoryError when the database is of an older schema
 */
export function requireCurrent(db: Database, directory: string): void {
  const version = schemaVersion(db);
  if (version < CURRENT_SCHEMA.version)
    throw new DataDirectoryError(
      `${db.name} has schema ${version} of an older Reckon, and this command needs schema ${CURRENT_SCHEMA.version}: starting ` +
        `"reckon serve --data ${shellWord(directory)}" upgrades it, after putting a backup aside`,
    );
}

/**
 * Gives a new file `schema.sql`; one that has a schema is left as it is.
 * @throws DataDirectoryError when the file is newer than this program or is not ours.
 */
export function createSchema(db: Database, plan: SchemaPlan = CURRENT_SCHEMA): void {
  if (schemaVersion(db) === 0) {
    db.transaction(() => {
      if (schemaVersion(db) !== 0) return;
      const tables = db.prepare("SELECT count(*) FROM sqlite_schema").pluck().get() as number;
      if (tables > 0)
        throw new DataDirectoryError(`${db.name} is a database of another program; choose another directory`);
      db.exec(plan.read("schema.sql"));
      db.pragma(`application_id = ${APPLICATION_ID}`);
      db.pragma(`user_version = ${plan.version}`);
    }).immediate();
  }
  requireOurs(db, plan);
}

/**
 * Takes an older database through the numbered migrations, in one transaction, after putting a backup into `backups/`. Call
 * while nobody else has the directory. A database that is up to date is left as it is.
 * @throws DataDirectoryError when there is no room for the backup, or the steps do not fit; nothing is changed then
 */
export function upgrade(
  db: Database,
  directory: string,
  nowIso: string,
  log: Log,
  plan: SchemaPlan = CURRENT_SCHEMA,
): void {
  const from = schemaVersion(db);
  const to = plan.version;
  if (from >= to) return;
  log.info("schema_upgrading", { from, to });
  const aside = putAside(db, directory, to, nowIso);
  let backup: string | undefined;
  db.pragma("foreign_keys = OFF");
  // The leaf that step 13 makes of a chained delivery.
  db.function("leaf_of_chain", { deterministic: true }, (chain) =>
    leafHash(Buffer.from(JSON.stringify({ v: 1, chain: (chain as Buffer).toString("hex") }))),
  );
  try {
    db.transaction(() => {
      for (const step of plan.migrations) {
        if (step.version <= from) continue;
        log.info("schema_upgrade_step", { step: step.version, to });
        db.exec(plan.read(step.file));
        step.move?.(db, progressLogger(log, to));
      }
      const broken = db.pragma("foreign_key_check") as unknown[];
      if (broken.length > 0) throw new DataDirectoryError(`the migration to schema ${to} does not fit ${db.name}`);
      db.pragma(`user_version = ${to}`);
      backup = aside.keep();
    }).immediate();
  } catch (error) {
    // A service manager starts the server again and again: the backup of an unchanged database is not kept each time.
    if (schemaVersion(db) === from) aside.discard();
    throw error;
  } finally {
    db.pragma("foreign_keys = ON");
  }
  // Before requests are served: the log holds a second copy of all that was moved.
  db.pragma("wal_checkpoint(TRUNCATE)");
  log.info("schema_upgraded", { from, to, backup });
}

/** A step that handles fewer rows than this is done before anybody asks how far it is. */
const MIN_LOGGED_ROWS = 50_000;
const PROGRESS_STEPS = 20;

function progressLogger(log: Log, to: number): (done: number, all: number) => void {
  let last = 0;
  return (done, all) => {
    const step = Math.floor((done / all) * PROGRESS_STEPS);
    if (all < MIN_LOGGED_ROWS || step <= last) return;
    last = step;
    log.info("schema_upgrade_progress", { to, percent: (100 * step) / PROGRESS_STEPS });
  };
}
