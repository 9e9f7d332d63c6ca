import { existsSync, statfsSync, statSync } from "node:fs";
import { setImmediate, setTimeout } from "node:timers/promises";
import type { Database } from "better-sqlite3";
import { syncFile } from "../../kit/files.ts";
import type { Log } from "../../kit/log.ts";
import type { Leftovers } from "./leftovers.ts";

/** Pages given back in one transaction: some milliseconds. */
const PAGES_A_STEP = 500;
/** Attempts to empty the log, and the pause between two: others may be reading from it. */
const TRIES = 100;
const PAUSE_MS = 50;

/** The value of auto_vacuum for files that give pages back in steps: made so, or vacuumed since. */
const INCREMENTAL = 2;

/** What giving room back takes of a store. */
interface Parts {
  readonly db: Database;
  /** Runs a change in a transaction of its own. */
  readonly write: (change: () => void) => Promise<void>;
  /** Moves the write-ahead log into the database, as far as readers allow. */
  readonly checkpoint: () => void;
}

const autoVacuum = (db: Database) => db.pragma("auto_vacuum", { simple: true }) as number;

/** @returns whether the write-ahead log is empty, after a power cut as well; false while another process reads from it */
function emptyLog(db: Database): boolean {
  const [row] = db.pragma("wal_checkpoint(TRUNCATE)") as { busy: number }[];
  if (row?.busy !== 0) return false;
  // SQLite truncates the log without waiting for the disk, since its content is not needed any more.
  const log = `${db.name}-wal`;
  if (existsSync(log)) syncFile(log);
  return true;
}

const freePages = (db: Database) => db.pragma("freelist_count", { simple: true }) as number;

/** Moves the log in a turn of its own. */
async function moveLog(checkpoint: Parts["checkpoint"]): Promise<void> {
  await setImmediate();
  checkpoint();
  await setImmediate();
}

/** Gives some free pages back, and lets others have their turn. */
async function giveSomeBack({ db, write, checkpoint }: Parts): Promise<void> {
  await write(() => void db.pragma(`incremental_vacuum(${PAGES_A_STEP})`));
  // Otherwise all steps' pages would be moved in one long piece, by whoever empties the log.
  await moveLog(checkpoint);
}

/** Free room that a file keeps for new rows: a share of it, and at least so many bytes. */
const KEPT_SHARE = 1 / 5;
const KEPT_BYTES = 64 * 1024 * 1024;

/**
 * Gives back some free room when there is more than a file needs for new rows: after texts are compressed for the first time, most of the
 * file is free.
 * @param steps at most, some milliseconds each
 */
export async function giveBack(parts: Parts, steps: number): Promise<void> {
  const { db } = parts;
  if (autoVacuum(db) !== INCREMENTAL) return;
  const [pages, pageBytes] = ["page_count", "page_size"].map((name) => Number(db.pragma(name, { simple: true })));
  const kept = Math.max((pages as number) * KEPT_SHARE, KEPT_BYTES / (pageBytes as number));
  for (let done = 0; done < steps && freePages(db) > kept; done++) await giveSomeBack(parts);
}

/**
 * Gives back the room of removed rows, overwrites the copies that SQLite left of them elsewhere, and empties the write-ahead log, which may
 * still hold their text.
 * @returns whether that is done; false while another process reads from the log
 */
export async function reclaim(parts: Parts, leftovers: Leftovers): Promise<boolean> {
  const { db } = parts;
  const isEmpty = () => whenLogIsEmpty(parts, () => true);
  if (autoVacuum(db) !== INCREMENTAL) return isEmpty();
  for (let free = freePages(db), before = Number.POSITIVE_INFINITY; free > 0 && free < before; ) {
    await giveSomeBack(parts);
    before = free;
    free = freePages(db);
  }
  return (await isEmpty()) && (await leftovers.overwrite((work) => whenLogIsEmpty(parts, work))) && (await isEmpty());
}

/** Does some work while the log is empty, trying again for some seconds. @returns whether it succeeded */
async function whenLogIsEmpty({ db, checkpoint }: Parts, work: () => boolean): Promise<boolean> {
  for (let tries = 0; tries < TRIES; tries++) {
    await moveLog(checkpoint);
    if (emptyLog(db) && work()) return true;
    await setTimeout(PAUSE_MS);
  }
  return false;
}

/** Up to this the copy that a VACUUM makes is held in memory; a larger one lies where the system has its temporary files. */
const MAX_IN_MEMORY_BYTES = 256 * 1024 * 1024;

/**
 * Converts an older file to one that gives room back in steps, and clears it of rows that were removed before `secure_delete` was on. Call
 * while nobody else has the directory. Without enough free space, the next start tries again.
 */
export function vacuumOnce(db: Database, directory: string, log: Log): void {
  if (autoVacuum(db) === INCREMENTAL) return;
  const { size: bytes } = statSync(db.name);
  const { bavail, bsize } = statfsSync(directory);
  // The new file passes through the log before it takes the place of the old.
  if (bavail * bsize < 2 * bytes) {
    log.warn("vacuum_put_off", { bytes, freeBytes: bavail * bsize });
    return;
  }
  log.info("vacuuming", { bytes });
  try {
    if (bytes > MAX_IN_MEMORY_BYTES) db.pragma("temp_store = FILE");
    db.pragma("auto_vacuum = INCREMENTAL");
    db.exec("VACUUM");
    emptyLog(db);
    log.info("vacuumed", { bytes: statSync(db.name).size });
  } catch (error) {
    log.warn("vacuum_failed", { cause: String(error) });
  } finally {
    db.pragma("temp_store = MEMORY");
  }
}
