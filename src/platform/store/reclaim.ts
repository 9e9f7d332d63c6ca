import { existsSync, statfsSync, statSync } from "node:fs";
import { setImmediate, setTimeout } from "node:timers/promises";
import type { Database } from "better-sqlite3";
import { syncFile } from "../../kit/files.ts";
import type { Log } from "../../kit/log.ts";
import type { Leftovers } from "./leftovers.ts";

/** Pages given back in one transaction: some milliseconds. */
const PAGES_A_STEP = 500;
/** How often the log is tried to be emptied, and how long between: others may be reading from it. */
const TRIES = 100;
const PAUSE_MS = 50;

/** Pages are given back in steps, in files that were made so or vacuumed since. */
const INCREMENTAL = 2;

const autoVacuum = (db: Database) => db.pragma("auto_vacuum", { simple: true }) as number;

/** @returns whether the write-ahead log is empty, after a power cut as well; false while another process reads from it */
function emptyLog(db: Database): boolean {
  const [row] = db.pragma("wal_checkpoint(TRUNCATE)") as { busy: number }[];
  if (row?.busy !== 0) return false;
  // SQLite cuts the log and does not wait for that to reach the disk, as what stands there is not needed any more.
  const log = `${db.name}-wal`;
  if (existsSync(log)) syncFile(log);
  return true;
}

const freePages = (db: Database) => db.pragma("freelist_count", { simple: true }) as number;

/** Gives some free pages back, and lets others have their turn. @param write runs a change in a transaction of its own */
async function giveSomeBack(db: Database, write: (change: () => void) => Promise<void>): Promise<void> {
  await write(() => void db.pragma(`incremental_vacuum(${PAGES_A_STEP})`));
  await setImmediate();
}

/** Up to so much of a file is left free for what comes: a share of it, and no less than so many bytes. */
const KEPT_SHARE = 1 / 5;
const KEPT_BYTES = 64 * 1024 * 1024;

/**
 * Gives back some of what is free, where that is more than a file needs for what comes: after its texts were compressed for the first time,
 * most of it is.
 * @param write runs a change in a transaction of its own
 * @param steps done at most, some milliseconds each
 */
export async function giveBack(
  db: Database,
  write: (change: () => void) => Promise<void>,
  steps: number,
): Promise<void> {
  if (autoVacuum(db) !== INCREMENTAL) return;
  const [pages, pageBytes] = ["page_count", "page_size"].map((name) => Number(db.pragma(name, { simple: true })));
  const kept = Math.max((pages as number) * KEPT_SHARE, KEPT_BYTES / (pageBytes as number));
  for (let done = 0; done < steps && freePages(db) > kept; done++) await giveSomeBack(db, write);
}

/**
 * Gives back the room of rows that were removed, overwrites what SQLite left of them elsewhere, and empties the write-ahead log, where their
 * text may stand still.
 * @param write runs a change in a transaction of its own
 * @returns whether that is done; false while another process reads from the log
 */
export async function reclaim(
  db: Database,
  write: (change: () => void) => Promise<void>,
  leftovers: Leftovers,
): Promise<boolean> {
  if (autoVacuum(db) !== INCREMENTAL) return whenLogIsEmpty(db, () => true);
  for (let free = freePages(db), before = Number.POSITIVE_INFINITY; free > 0 && free < before; ) {
    await giveSomeBack(db, write);
    before = free;
    free = freePages(db);
  }
  const isEmpty = () => whenLogIsEmpty(db, () => true);
  return (await isEmpty()) && (await leftovers.overwrite((work) => whenLogIsEmpty(db, work))) && (await isEmpty());
}

/** Does something once the log is empty, and again until it succeeds. @returns whether it did, in some seconds */
async function whenLogIsEmpty(db: Database, work: () => boolean): Promise<boolean> {
  for (let tries = 0; tries < TRIES; tries++) {
    if (emptyLog(db) && work()) return true;
    await setTimeout(PAUSE_MS);
  }
  return false;
}

/** Up to this the copy that a VACUUM makes is held in memory; a larger one lies where the system has its temporary files. */
const MAX_IN_MEMORY_BYTES = 256 * 1024 * 1024;

/**
 * Makes an older file one that gives room back in steps, and rids it of what was removed before removing overwrote. Call while
 * nobody else has the directory. Where space lacks, the next start tries again.
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
