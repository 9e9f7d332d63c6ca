/**
 * The store: one SQLite file, opened safely, written through group commit, migrated, locked and checkpointed.
 * It knows no table's meaning: each room keeps its own SQL in its `rows.ts`.
 */
import type { Preparer, Store } from "./types.ts";

/** Declares a room's statements, which are prepared once for each open store. */
export const statements =
  <T>(prepare: (db: Preparer) => T): ((store: Store) => T) =>
  (store) =>
    store.prepared(prepare);

export { type BackupResult, finishBackup, isCarried, KEY_FILE, PRICES_FILE, RETIRED_FOLDER } from "./backup-file.ts";
export { checkStructure, damageAdvice, isReadError } from "./damage.ts";
export { databasePath, openFile, removeDatabase } from "./file.ts";
export { type LocalDatabase, local } from "./local.ts";
export { announcedBaseUrl, type DirectoryLock, lockDirectory } from "./lock.ts";
export { CURRENT_SCHEMA, requireOurs, schemaVersion } from "./migrate.ts";
export {
  CHECK_AT_START_BYTES,
  claimDirectory,
  type OpenOptions,
  openStore,
} from "./open.ts";
export type { Preparer, Store } from "./types.ts";
