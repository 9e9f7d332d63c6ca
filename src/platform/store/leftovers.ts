import { closeSync, fdatasync, openSync, read, readSync, statSync, writeSync } from "node:fs";
import { promisify } from "node:util";
import type { Database } from "better-sqlite3";

/*
 * Where SQLite moves rows to other pages, as when one is full, it leaves copies of them in the unallocated room of a page, whatever
 * `secure_delete` says: what is removed later is overwritten where it lies, and not there. See https://sqlite.org/fileformat2.html,
 * 1.6 for pages and 1.8 for the map that tells what each is.
 */

const PAGE_BYTES = 4096;
/** A page of the map, and those of which it tells. */
const MAPPED_PAGES = Math.floor(PAGE_BYTES / 5);
const GROUP_BYTES = (1 + MAPPED_PAGES) * PAGE_BYTES;
/** Pages with rows, by the map: roots of trees, and others. */
const WITH_ROWS = new Set([1, 5]);
/** By the kind of page how long its header is. */
const HEADER_BYTES: Readonly<Record<number, number>> = { 2: 12, 5: 12, 10: 8, 13: 8 };
const ZEROS = Buffer.alloc(PAGE_BYTES);

const readAt = promisify(read);
const flush = promisify(fdatasync);

interface Room {
  readonly from: number;
  readonly to: number;
}

/** The unallocated room of a page, where anything stands in it. */
function leftoverIn(page: Buffer): Room | undefined {
  const from = (HEADER_BYTES[page[0] ?? 0] ?? PAGE_BYTES) + 2 * page.readUInt16BE(3);
  const to = page.readUInt16BE(5);
  return to <= PAGE_BYTES && from < to && page.compare(ZEROS, 0, to - from, from, to) !== 0 ? { from, to } : undefined;
}

/** Where pages of a group begin that have leftovers. */
const pagesWithLeftovers = (group: Buffer): number[] =>
  Array.from({ length: Math.floor(group.length / PAGE_BYTES) }, (_, i) => i * PAGE_BYTES).filter(
    (at, i) =>
      i > 0 && WITH_ROWS.has(group[(i - 1) * 5] ?? 0) && leftoverIn(group.subarray(at, at + PAGE_BYTES)) !== undefined,
  );

/** Overwrites what SQLite leaves of rows that it moved, in a file that gives room back in steps: others have no map. */
export class Leftovers {
  readonly #db: Database;
  readonly #tryWrite: (change: () => void) => boolean;
  /** Kept open: closing a file takes the locks from it that SQLite has, on all that this process has open of it. */
  #file: number | undefined;

  /** @param tryWrite runs a change at once in a transaction of its own, where nobody else writes */
  constructor(db: Database, tryWrite: (change: () => void) => boolean) {
    this.#db = db;
    this.#tryWrite = tryWrite;
  }

  /**
   * Looks through the file, some megabytes between two turns of others.
   * @param whenLogIsEmpty runs what needs an empty write-ahead log until it is done; false where it never is
   * @returns whether nothing is left
   */
  async overwrite(whenLogIsEmpty: (work: () => boolean) => Promise<boolean>): Promise<boolean> {
    if (this.#db.pragma("page_size", { simple: true }) !== PAGE_BYTES) return true;
    this.#file ??= openSync(this.#db.name, "r+");
    const group = Buffer.alloc(GROUP_BYTES);
    for (let at = PAGE_BYTES, bytesRead = GROUP_BYTES; bytesRead === GROUP_BYTES; at += GROUP_BYTES) {
      ({ bytesRead } = await readAt(this.#file, group, 0, GROUP_BYTES, at));
      const isClean = pagesWithLeftovers(group.subarray(0, bytesRead)).length === 0;
      if (!isClean && !(await whenLogIsEmpty(() => this.#overwriteIn(group, at)))) return false;
    }
    await flush(this.#file);
    return true;
  }

  /**
   * Overwrites what a group has. Nothing is read of what is overwritten, so it may be cut short, and others may read meanwhile; but nobody
   * may write, nor bring back an older copy of the page: not the log, nor what processes hold in memory, which they let go when something
   * was committed. What the pages are is read anew: by now one may be of another kind.
   */
  #overwriteIn(group: Buffer, at: number): boolean {
    const file = this.#file as number;
    this.#db.pragma("shrink_memory");
    let isDone = false;
    this.#tryWrite(() => {
      if ((statSync(`${this.#db.name}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) return;
      const bytesRead = readSync(file, group, 0, GROUP_BYTES, at);
      for (const page of pagesWithLeftovers(group.subarray(0, bytesRead))) {
        const { from, to } = leftoverIn(group.subarray(page, page + PAGE_BYTES)) as Room;
        writeSync(file, ZEROS, 0, to - from, at + page + from);
      }
      this.#db.pragma(`user_version = ${this.#db.pragma("user_version", { simple: true })}`);
      isDone = true;
    });
    return isDone;
  }

  /** Call once the database is closed. */
  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}
