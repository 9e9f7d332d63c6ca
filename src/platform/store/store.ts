/**
 * The store: one SQLite file, opened safely, written through group commit, migrated, locked and checkpointed.
 * It knows no table's meaning: each room keeps its own SQL in its `rows.ts`.
 */
import type { HasColumn, Preparer, Store } from "./types.ts";

/**
 * Declares a room's statements, which are prepared once for each open store. A database of an older schema may be read before it is
 * upgraded: `has` tells which columns it has.
 */
export const statements =
  <T>(prepare: (db: Preparer, has: HasColumn) => T): ((store: Store) => T) =>
  (store) =>
    store.prepared(prepare);

export { type BackupResult, BESIDE, finishBackup, isCarried } from "./backup-file.ts";
export { checkStructure, damageAdvice, isReadError } from "./damage.ts";
export { databasePath, openFile, removeDatabase } from "./file.ts";
export { local } from "./local.ts";
export { announcedBaseUrl, type DirectoryLock, lockDirectory } from "./lock.ts";
export { CURRENT_SCHEMA, requireOurs, schemaVersion } from "./migrate.ts";
export {
  CHECK_AT_START_BYTES,
  claimDirectory,
  type OpenOptions,
  openCopy,
  openStore,
} from "./open.ts";
export type { Preparer, Store } from "./types.ts";
