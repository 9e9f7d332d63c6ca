import { existsSync } from "node:fs";
import Sqlite, { type Database } from "better-sqlite3";
import { CURRENT_SCHEMA, requireOurs, schemaVersion } from "./migrate.ts";
import type { Preparer } from "./types.ts";

/** Settings of every connection, for writing or only for reading. */
export function configureReading(db: Database): void {
  db.pragma("trusted_schema = OFF");
  db.pragma("temp_store = MEMORY");
  db.pragma("cache_size = -32768");
}

/** Opens a database to look at it. No byte of it is changed, not even by what SQLite does on opening and closing. */
export function openToLook(path: string): Database {
  // When there is a log, closing a connection that may write would move it into the database; when there is none, one that may only read
  // would leave an empty log behind.
  const db = new Sqlite(path, { readonly: existsSync(`${path}-wal`), fileMustExist: true, timeout: 5_000 });
  db.pragma("query_only = ON");
  configureReading(db);
  return db;
}

/**
 * Opens a database of an older schema as `openToLook` does.
 * @returns undefined when the database is not older
 * @throws DataDirectoryError when it is newer than this program or is not ours
 */
export function openOlder(path: string): Database | undefined {
  const db = openToLook(path);
  try {
    const version = schemaVersion(db);
    if (version > 0) requireOurs(db);
    if (version === 0 || version >= CURRENT_SCHEMA.version) {
      db.close();
      return undefined;
    }
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Prepares the statements that fit the schema; any other one throws when it is run. */
export function tolerant(db: Database): Preparer {
  const prepare = (sql: string) => {
    try {
      return db.prepare(sql);
    } catch (error) {
      if ((error as { code?: string }).code !== "SQLITE_ERROR") throw error;
      return unusable(error);
    }
  };
  return { prepare: prepare as Preparer["prepare"] };
}

/** A statement that could not be prepared: throws the reason when it is run. */
function unusable(error: unknown): object {
  const fail = () => {
    throw error;
  };
  const statement: object = {
    run: fail,
    get: fail,
    all: fail,
    iterate: fail,
    pluck: () => statement,
    raw: () => statement,
    expand: () => statement,
    safeIntegers: () => statement,
  };
  return statement;
}
