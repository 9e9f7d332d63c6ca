import { rmSync } from "node:fs";
import { join } from "node:path";
import Sqlite, { type Database } from "better-sqlite3";

/** The database of a data directory. */
export const databasePath = (directory: string) => join(directory, "reckon.db");

/** Opens a database file for copying or inspection, without the settings and checks of a store. */
export function openFile(path: string, options: { readonly readonly?: boolean } = {}): Database {
  return new Sqlite(path, { readonly: options.readonly ?? false, fileMustExist: true, timeout: 5_000 });
}

/** Removes a database file with whatever SQLite left beside it; a stray journal would be played into its successor. */
export function removeDatabase(path: string): void {
  for (const ending of ["", "-journal", "-wal", "-shm"]) rmSync(path + ending, { force: true });
}
