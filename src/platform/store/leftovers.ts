import { closeSync, fdatasync, openSync, read, readSync, statSync, writeSync } from "node:fs";
import { promisify } from "node:util";
import type { Database } from "better-sqlite3";

/*
 * When SQLite moves rows to another page, as when one is full, it leaves copies in the unallocated room of the old page, even with
 * `secure_delete`. A later removal overwrites the row where it lies now, and not these copies. See https://sqlite.org/fileformat2.html, 1.6
 * for pages and 1.8 for the map of the pages' kinds.
 */

const PAGE_BYTES = 4096;
/** Number of pages that a page of the map describes. */
const MAPPED_PAGES = Math.floor(PAGE_BYTES / 5);
const GROUP_BYTES = (1 + MAPPED_PAGES) * PAGE_BYTES;
/** Pages with rows, by the map: roots of trees, and others. */
const WITH_ROWS = new Set([1, 5]);
/** Bytes of a page's header, by its kind. */
const HEADER_BYTES: Readonly<Record<number, number>> = { 2: 12, 5: 12, 10: 8, 13: 8 };
const ZEROS = Buffer.alloc(PAGE_BYTES);

const readAt = promisify(read);
const flush = promisify(fdatasync);

interface Room {
  readonly from: number;
  readonly to: number;
}

/** The unallocated room of a page, if it is not all zeros. */
function leftoverIn(page: Buffer): Room | undefined {
  const from = (HEADER_BYTES[page[0] ?? 0] ?? PAGE_BYTES) + 2 * page.readUInt16BE(3);
  const to = page.readUInt16BE(5);
  return to <= PAGE_BYTES && from < to && page.compare(ZEROS, 0, to - from, from, to) !== 0 ? { from, to } : undefined;
}

/** Offsets of the pages of a group that have leftovers. */
const pagesWithLeftovers = (group: Buffer): number[] =>
  Array.from({ length: Math.floor(group.length / PAGE_BYTES) }, (_, i) => i * PAGE_BYTES).filter(
    (at, i) =>
      i > 0 && WITH_ROWS.has(group[(i - 1) * 5] ?? 0) && leftoverIn(group.subarray(at, at + PAGE_BYTES)) !== undefined,
  );

/** Overwrites the copies that SQLite leaves of moved rows, in a file that gives room back in steps: other files have no map. */
export class Leftovers {
  readonly #db: Database;
  readonly #tryWrite: (change: () => void) => boolean;
  /** Kept open: closing any descriptor of a file releases all locks that this process has on it, SQLite's too. */
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
   * Overwrites the leftovers of a group. Nobody reads that room, so it may be cut short, and others may read meanwhile. But nobody may
   * write, and no older copy of a page may come back: not from the log, and not from the memory of a process, which drops its pages after a
   * commit. The kinds of the pages are read again, since one may have changed.
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
