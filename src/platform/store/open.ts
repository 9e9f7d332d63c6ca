import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import Sqlite, { type Database } from "better-sqlite3";
import { isoInstant } from "../../kit/clock.ts";
import { DataDirectoryError, isStorageTrouble } from "../../kit/errors.ts";
import { leaveToOwner, makeFolder } from "../../kit/files.ts";
import { type Log, silentLog } from "../../kit/log.ts";
import { shellWord } from "../../kit/strings.ts";
import { BESIDE } from "./backup-file.ts";
import { Checkpoints } from "./checkpoints.ts";
import { CommitQueue } from "./commit.ts";
import { checkStructure, damageAdvice, lookAgain } from "./damage.ts";
import { databasePath } from "./file.ts";
import { Leftovers } from "./leftovers.ts";
import { type DirectoryLock, lockDirectory, requireFiles, SERVER_NOTE } from "./lock.ts";
import { createSchema, requireCurrent, requireOurs, upgrade } from "./migrate.ts";
import { configureReading, openOlder, openToLook, tolerant } from "./older.ts";
import { outsideWatch } from "./outside.ts";
import { plannedOnce } from "./planned-once.ts";
import { giveBack, reclaim, vacuumOnce } from "./reclaim.ts";
import type { HasColumn, Preparer, Store } from "./types.ts";

/** Above this a whole-file check would keep the server from answering; it then runs beside it (see `checkBeside`). */
export const CHECK_AT_START_BYTES = 64 * 1024 * 1024;

export interface OpenOptions {
  /** The directory is claimed by the caller (a server), which may therefore upgrade an older database. */
  readonly locked?: boolean;
  /** How to treat an older database that is not upgraded: `refuse` it, or `look` at it without changing a byte. */
  readonly older?: "refuse" | "look";
  /** Create the directory and database when there is none. Default true. */
  readonly create?: boolean;
  /** Check the file's structure before use when it is small enough. */
  readonly check?: boolean;
  readonly now: () => number;
  /** Reports an upgrade. */
  readonly log?: Log;
}

/** Signs that a directory held a database before, which is then missing rather than not made yet. */
const TRACES_OF_USE = ["retired-keys", "backups", BESIDE.incoming];

/** @throws DataDirectoryError when the database is gone, or is an empty file, though the directory was in use. */
function requireNotLost(directory: string): void {
  const path = databasePath(directory);
  const found = statSync(path, { throwIfNoEntry: false });
  // Of what is no file `requireFiles` tells.
  if ((found && (found.size > 0 || !found.isFile())) || existsSync(`${path}-wal`)) return;
  const has = (name: string) => existsSync(join(directory, name));
  if (!TRACES_OF_USE.some(has) && !(has("signing-key.pem") && has(SERVER_NOTE))) return;
  throw new DataDirectoryError(
    `the database ${path} is missing or empty, though ${directory} was in use: restore the newest backup with ` +
      `"reckon restore FILE --data ${shellWord(directory)}", or choose an empty directory to start afresh`,
  );
}

/**
 * Claims a data directory for a server, making it if need be.
 * @throws DataDirectoryInUse naming the server that has it; DataDirectoryError when it cannot be used
 */
export function claimDirectory(directory: string): DirectoryLock {
  try {
    requireNotLost(directory);
    makeFolder(directory);
    return lockDirectory(directory);
  } catch (error) {
    throw explain(error, directory);
  }
}

/**
 * Opens the database of a data directory, ready for use: WAL, `synchronous=FULL` (read back), current schema. Only who has
 * claimed the directory upgrades one of an older schema.
 * @throws DataDirectoryError with what to do, when it cannot be used.
 */
export function openStore(directory: string, options: OpenOptions): Store {
  const path = databasePath(directory);
  const isNew = !isThere(path, directory);
  if (isNew && options.create === false) {
    requireNotLost(directory);
    throw new DataDirectoryError(
      `there is no Reckon database in ${directory}; name another with --data, or start "reckon serve" there first`,
    );
  }
  let db: Database | undefined;
  try {
    if (!options.locked) requireNotLost(directory);
    makeFolder(directory);
    requireFiles(directory);
    if (!isNew && !options.locked) {
      const older = openOlder(path);
      if (older && options.older === "look") return wrap(older, directory, tolerant(older));
      try {
        if (older) requireCurrent(older, directory);
      } finally {
        older?.close();
      }
    }
    db = new Sqlite(path, { timeout: 5_000 });
    // Before anything is written: SQLite gives what it makes beside the file to the file's owner.
    if (isNew) leaveToOwner(path);
    configure(db);
    if (options.check && !isNew && statSync(path).size <= CHECK_AT_START_BYTES) {
      const finding = checkStructure(db);
      if (finding) throw new DataDirectoryError(damageAdvice(directory, finding));
    }
    createSchema(db);
    if (options.locked) prepareFile(db, directory, options);
    else requireCurrent(db, directory);
    return wrap(db, directory);
  } catch (error) {
    const explained = explain(error, directory, db);
    db?.close();
    throw explained;
  }
}

/** Whether the database is there. @throws DataDirectoryError when the directory may not be read: that does not count as missing */
function isThere(path: string, directory: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    throw explain(error, directory);
  }
}

/**
 * Opens a copy of a database, of this program's schema or an older one, for reading. Nothing in it is changed, and files beside it are not
 * taken for its own.
 * @throws DataDirectoryError when it is newer than this program or is not ours
 */
export function openCopy(path: string): Store {
  const older = openOlder(path);
  if (older) return wrap(older, path, tolerant(older));
  const db = openToLook(path);
  try {
    requireOurs(db);
    return wrap(db, path);
  } catch (error) {
    db.close();
    throw error;
  }
}

function configure(db: Database): void {
  // Before anything is written to a new file. On other files it only sets what a later VACUUM makes of them.
  if (db.pragma("page_count", { simple: true }) === 0) db.pragma("auto_vacuum = INCREMENTAL");
  // What is removed is overwritten: an erased text must not be found in the file.
  db.pragma("secure_delete = ON");
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = FULL");
  db.pragma("foreign_keys = ON");
  configureReading(db);
  db.pragma("journal_size_limit = 67108864");
  // Checkpoints run when we say so, away from requests; see `Checkpoints`.
  db.pragma("wal_autocheckpoint = 0");
  const mode = db.pragma("journal_mode", { simple: true });
  const synchronous = db.pragma("synchronous", { simple: true });
  if (mode !== "wal" || synchronous !== 2)
    throw new DataDirectoryError(
      `this file system cannot hold the database safely (journal_mode ${mode}, synchronous ${synchronous}): choose a local disk`,
    );
}

/** Changes that only a server makes to a file, while it has it for itself. */
function prepareFile(db: Database, directory: string, { now, log = silentLog }: OpenOptions): void {
  upgrade(db, directory, isoInstant(now()), log);
  vacuumOnce(db, directory, log);
}

/** @param preparer prepares the statements of rooms */
function wrap(db: Database, directory: string, preparer: Preparer = plannedOnce(db)): Store {
  // Opening waits for others; from here on the commit queue does, without stopping the process (see CommitQueue).
  db.pragma("busy_timeout = 0");
  const checkpoints = new Checkpoints(db);
  const queue = new CommitQueue(db, () => checkpoints.committed());
  const write = (change: () => void) => queue.write(change);
  const checkpoint = () => checkpoints.run();
  const leftovers = new Leftovers(db, (change) => queue.tryWrite(change));
  const dataVersion = db.prepare("PRAGMA data_version").pluck();
  const outsideVersion = () => dataVersion.get() as number;
  const columns = db.prepare<[string], string>("SELECT name FROM pragma_table_info(?)").pluck();
  const hasColumn: HasColumn = (table, column) => columns.all(table).includes(column);
  let listeners = 0;
  const statements = new Map<unknown, unknown>();
  const opened = statSync(db.name);
  return {
    db,
    directory,
    prepared<T>(prepare: (db: Preparer, has: HasColumn) => T): T {
      if (!statements.has(prepare)) statements.set(prepare, prepare(preparer, hasColumn));
      return statements.get(prepare) as T;
    },
    write: (change, payer) => queue.write(change, payer),
    tryWrite: (change) => queue.tryWrite(change),
    stats: queue.stats,
    get failing() {
      return (queue.blocked ?? queue.lastFailure) !== undefined;
    },
    checkpoint,
    giveBack: (steps) => giveBack({ db, write, checkpoint }, steps),
    reclaim: () => reclaim({ db, write, checkpoint }, leftovers),
    outsideVersion,
    watchOutside: () => outsideWatch(outsideVersion),
    onChange: (...what) => listenToChanges(db, `changed_${listeners++}`, ...what),
    checkInPlace() {
      const now = statSync(db.name, { throwIfNoEntry: false });
      if (now?.ino === opened.ino && now.dev === opened.dev) return true;
      queue.blocked = new Error(`${db.name} was removed or replaced while in use`);
      return false;
    },
    walBytes() {
      return statSync(`${db.name}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    },
    close() {
      queue.drain();
      if (queue.stats.changes > 0) checkpoints.end();
      // What an error left half read cannot be closed before the process ends, and must not hide the error.
      if (!db.inTransaction) db.close();
      leftovers.close();
    },
  };
}

/** Has SQLite itself say what changes in tables: whoever writes to them on this connection, by whatever statement. @param name of the listener */
function listenToChanges(db: Database, name: string, ...[tables, listener, of]: Parameters<Store["onChange"]>): void {
  db.function(name, (changed: unknown) => {
    listener(changed);
    return null;
  });
  for (const table of tables)
    for (const event of ["UPDATE", "DELETE", ...(of?.added ? ["INSERT"] : [])]) {
      const value = of ? `${event === "INSERT" ? "NEW" : "OLD"}.${of.column}` : "NULL";
      db.exec(
        `CREATE TEMP TRIGGER ${name}_${table}_${event} AFTER ${event} ON main.${table} BEGIN SELECT ${name}(${value}); END`,
      );
    }
}

/** Turns an error of the system or SQLite into advice for the operator. @param db the connection, if there is one */
function explain(error: unknown, directory: string, db?: Database): unknown {
  const { code = "", name, message, path = directory } = error as Error & { code?: string; path?: string };
  // The shared-memory file beside the database: making it takes room and rights, and an error says nothing about the disk.
  if (/^SQLITE_IOERR_SHM/.test(code)) return cannotUse(directory, `${message}, ${code}`);
  if (/^(SQLITE_IOERR|EIO$)/.test(code))
    return new DataDirectoryError(damageAdvice(directory, `disk I/O error, ${code}`));
  if (isStorageTrouble(error) && !/^SQLITE_(CORRUPT|NOTADB)/.test(code)) return cannotUse(directory, message);
  // Any other error of SQLite on a file that was already opened is about the file's content.
  if (name === "SqliteError") {
    const isOfFile = /^SQLITE_(CORRUPT|NOTADB)/.test(code);
    return new DataDirectoryError(damageAdvice(directory, db && isOfFile ? lookAgain(db, message) : message));
  }
  if (code === "EEXIST")
    return new DataDirectoryError(
      `${path} is a file: --data names the directory that holds the database, which is made where there is none`,
    );
  if (/^(ENOENT|EACCES|EPERM|EROFS|ENOSPC|EDQUOT|ENOTDIR|EISDIR|ELOOP|ENAMETOOLONG)$/.test(code))
    return cannotUse(directory, message);
  return error;
}

function cannotUse(directory: string, message: string): DataDirectoryError {
  return new DataDirectoryError(
    `the data directory ${directory} cannot be written (${message}): check its owner, its permissions and the free space`,
  );
}
