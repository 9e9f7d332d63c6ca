import type { Database } from "better-sqlite3";

/** Pages given back in one transaction: some milliseconds. */
const PAGES_A_STEP = 500;
/** How often the log is tried to be emptied, and how long between: others may be reading from it. */
const TRIES = 100;
const PAUSE_MS = 50;

/** Pages are given back in steps, in files that were made so or vacuumed since. */
export const INCREMENTAL = 2;

export const autoVacuum = (db: Database) => db.pragma("auto_vacuum", { simple: true }) as number;

/**
 * Gives back the room of rows that were removed, and empties the write-ahead log, where their text may stand still.
 * @param write runs a change in a transaction of its own
 * @returns whether the log is empty; false while another process reads from it
 */
export async function reclaim(db: Database, write: (change: () => void) => Promise<void>): Promise<boolean> {
  const freePages = () => db.pragma("freelist_count", { simple: true }) as number;
  if (autoVacuum(db) === INCREMENTAL)
    for (let free = freePages(), before = Number.POSITIVE_INFINITY; free > 0 && free < before; ) {
      await write(() => void db.pragma(`incremental_vacuum(${PAGES_A_STEP})`));
      await new Promise<void>((resolve) => setImmediate(resolve));
      before = free;
      free = freePages();
    }
  for (let tries = 0; tries < TRIES; tries++) {
    const [row] = db.pragma("wal_checkpoint(TRUNCATE)") as { busy: number }[];
    if (row?.busy === 0) return true;
    await new Promise<void>((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return false;
}
