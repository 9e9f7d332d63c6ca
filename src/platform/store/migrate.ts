import { statfsSync } from "node:fs";
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

/** Steps for files older than `schema.sql`, oldest first, each with the version that it leads to. A new step also changes `schema.sql`. */
const STEPS = [
  ...["0002-people", "0003-public", "0004-defects", "0005-link-makers", "0006-tier-none", "0007-names", "0008-jobs"],
  ...["0009-parts-and-entries", "0010-whose-devices", "0011-capture-mode", "0012-segments", "0013-tree"],
  ...["0014-erasures", "0015-api-tokens", "0016-otlp", "0017-notes", "0018-notifications", "0019-sso"],
  ...["0020-second-factor", "0021-device-reads", "0022-days", "0023-finds", "0024-triage", "0025-session-figures"],
  ...["0026-budgets", "0027-saved-views", "0028-scim", "0029-roles", "0030-wrapped-keys", "0031-told-once"],
  ...["0032-moves", "0033-lake", "0034-sessions-once", "0035-long-sessions", "0036-due-by-channel"],
  ...["0037-who-was-signed-in", "0038-sessions-by-cause", "0039-entries-gone", "0040-makers", "0041-reclaimed"],
  ...["0042-machines-of-one-job", "0043-holders", "0044-no-queue", "0045-nightly-runs", "0046-references"],
  ...["0047-span-blocks", "0048-brain-blocks"],
];

const MIGRATIONS = STEPS.map(
  (name): Migration => ({
    version: Number(name.slice(0, 4)),
    file: `src/platform/store/migrations/${name}.sql`,
    ...(name === "0012-segments" ? { move: moveEntries } : {}),
  }),
);

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

const MIB = 1024 * 1024;

/**
 * An upgrade takes space for the backup and for the log of what its steps write, and twice as much where entries move (schema 12).
 * @throws DataDirectoryError where it might run out of space halfway
 */
function requireRoom(db: Database, directory: string, from: number): void {
  const [pages = 0, free = 0, size = 0] = ["page_count", "freelist_count", "page_size"].map((name) =>
    Number(db.pragma(name, { simple: true })),
  );
  const bytes = (pages - free) * size * (from < 12 ? 4 : 2);
  const { bavail, bsize } = statfsSync(directory);
  if (bavail * bsize < bytes)
    throw new DataDirectoryError(
      `an upgrade of ${db.name} takes up to ${Math.ceil(bytes / MIB)} MiB of free space, and ${Math.floor((bavail * bsize) / MIB)} MiB are free: nothing was upgraded`,
    );
}

/**
 * Takes an older database through the numbered migrations, in one transaction, after putting a backup into `backups/`. Call
 * while nobody else has the directory. A database that is up to date is left as it is.
 * @throws DataDirectoryError when there is too little free space, or the steps do not fit; nothing is changed then
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
  requireRoom(db, directory, from);
  log.info("schema_upgrading", { from, to });
  const aside = putAside(db, directory, to, nowIso);
  let backup: string | undefined;
  db.pragma("foreign_keys = OFF");
  // The leaf that step 13 makes of a chained delivery.
  db.function("leaf_of_chain", { deterministic: true }, (chain) =>
    leafHash(JSON.stringify({ v: 1, chain: (chain as Buffer).toString("hex") })),
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
