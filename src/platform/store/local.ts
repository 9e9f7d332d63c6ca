import { chmodSync } from "node:fs";
import Sqlite, { type Database } from "better-sqlite3";
import { DataDirectoryError } from "../../kit/errors.ts";
import { removeDatabase } from "./file.ts";
import { createSchema } from "./migrate.ts";

/**
 * Opens a small database that one program keeps for itself, apart from a server's: WAL and `synchronous=FULL`, so that what was
 * committed survives a power cut; mode 0600.
 * @param schemas statements, in the order in which the file's versions got them (`user_version` counts them)
 * @throws DataDirectoryError when a newer program made the file
 */
function open(path: string, schemas: readonly string[]): Database {
  const db = new Sqlite(path, { timeout: 10_000 });
  try {
    chmodSync(path, 0o600);
    // Works only for a new file: its free pages can then be given back.
    if (db.pragma("page_count", { simple: true }) === 0) db.pragma("auto_vacuum = INCREMENTAL");
    db.pragma("journal_mode = WAL");
    db.pragma("synchronous = FULL");
    db.pragma("temp_store = MEMORY");
    // Small, since its program is a guest on somebody's machine, and the operating system caches the file anyway.
    db.pragma("cache_size = -2048");
    const version = () => {
      const made = db.pragma("user_version", { simple: true }) as number;
      if (made <= schemas.length) return made;
      throw new DataDirectoryError(`${path} was made by a newer version of this program`);
    };
    const migrate = db.transaction(() => {
      for (const schema of schemas.slice(version())) db.exec(schema);
      db.pragma(`user_version = ${schemas.length}`);
    });
    // A connection that only reads must not wait for a writer.
    if (version() < schemas.length) migrate.immediate();
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Opens another program's database for reading: nothing in it or beside it is written. @throws SqliteError */
function openForeign(path: string): Database {
  const db = new Sqlite(path, { readonly: true, fileMustExist: true, timeout: 0 });
  db.pragma("query_only = ON");
  db.pragma("trusted_schema = OFF");
  return db;
}

/**
 * Makes a file for an excerpt of a store: with the store's schema and some more tables. An existing file is replaced.
 * @param tables statements that create these tables
 */
function makeExcerpt(path: string, tables: string): void {
  removeDatabase(path);
  const db = new Sqlite(path);
  try {
    chmodSync(path, 0o600);
    createSchema(db);
    db.exec(tables);
  } finally {
    db.close();
  }
}

/** All that a schema declares, as one text for comparing two: a file from elsewhere may declare more than meets the eye. */
function declaredIn(db: Database): string {
  const all = db.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name").raw().all();
  return JSON.stringify(all);
}

/** The declarations of a file that `makeExcerpt` makes with these tables. */
function excerptSchema(tables: string): string {
  const db = new Sqlite(":memory:");
  try {
    createSchema(db);
    db.exec(tables);
    return declaredIn(db);
  } finally {
    db.close();
  }
}

/**
 * Names of what a store of this program's schema declares otherwise than the program: what it lacks, and triggers that are not its own.
 * Those do what they say with whatever is changed, in everybody's name. Tables, views and indexes besides do nothing by themselves.
 */
function declaredOtherwise(db: Database): string[] {
  type Declared = readonly [type: string, name: string, of: string, sql: string | null];
  const read = (text: string) => JSON.parse(text) as Declared[];
  // Tables of older databases were made in other words.
  const keyOf = ([type, name, of, sql]: Declared) => JSON.stringify([type, name, of, type === "trigger" ? sql : ""]);
  const [own, there] = [read(excerptSchema("")), read(declaredIn(db))];
  const [ownKeys, keys] = [new Set(own.map(keyOf)), new Set(there.map(keyOf))];
  const lacking = own.filter((one) => !keys.has(keyOf(one)));
  const strange = there.filter((one) => one[0] === "trigger" && !ownKeys.has(keyOf(one)));
  return [...new Set([...strange, ...lacking].map(([type, name]) => `${type} ${JSON.stringify(name)}`))];
}

/**
 * Holds a lock of the operating system, through SQLite, on a file that is made for it: a killed process leaves nothing to clean up.
 * @returns what releases it; undefined while another process has it
 */
function tryLock(path: string): (() => void) | undefined {
  const holder = new Sqlite(path, { timeout: 0 });
  try {
    holder.exec("BEGIN EXCLUSIVE");
    return () => holder.close();
  } catch (error) {
    holder.close();
    if ((error as { code?: string }).code === "SQLITE_BUSY") return undefined;
    throw error;
  }
}

/** Databases that are not a server's store. */
export const local = { open, openForeign, tryLock, makeExcerpt, excerptSchema, declaredIn, declaredOtherwise };
