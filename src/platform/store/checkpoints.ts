import type { Database } from "better-sqlite3";

/** Milliseconds that a checkpoint should take at most: everybody waits for it. */
const PIECE_MS = 8;
/** Fewer pages in the log are not worth a checkpoint. */
const FEW_PAGES = 500;
/**
 * A log of so many pages has to begin anew. Two processes that write at once keep each other from it: one adds to the log while the other
 * moves it.
 */
const MANY_PAGES = 8_192;
/** Time for others between two checkpoints, when each takes long. */
const REST_MS = 25;

interface LogState {
  /** Pages in the write-ahead log. */
  readonly log: number;
  /** Of those, how many are in the database already: 0 again once the log began anew. */
  readonly checkpointed: number;
}

const EMPTY: LogState = { log: 0, checkpointed: 0 };

/**
 * Moves the write-ahead log into the database (https://sqlite.org/wal.html#ckpt). A job asks for it at an interval. Under load it is done
 * in between as well, whenever the log has grown by as much as one short piece moves.
 */
export class Checkpoints {
  readonly #db: Database;
  readonly #look;
  readonly #move;
  readonly #restart;
  /** Pages that are moved in about `PIECE_MS`. */
  #most = FEW_PAGES;
  /** The state of the log after the last move. */
  #left = EMPTY;
  /** The earliest time of the next move, monotonic milliseconds. */
  #notBefore = 0;
  #isScheduled = false;

  constructor(db: Database) {
    this.#db = db;
    this.#look = db.prepare<[], LogState>("PRAGMA wal_checkpoint(NOOP)");
    this.#move = db.prepare<[], LogState>("PRAGMA wal_checkpoint(PASSIVE)");
    // RESTART keeps others from writing while it moves, and waits for nobody: see `busy_timeout` in `openStore`.
    this.#restart = db.prepare<[], LogState>("PRAGMA wal_checkpoint(RESTART)");
  }

  /** Moves the log, whoever wrote it, as far as readers allow. */
  run(): void {
    const before = this.#look.get() ?? EMPTY;
    if (before.checkpointed === before.log) {
      this.#left = before;
      return;
    }
    const began = performance.now();
    const after = (before.log < MANY_PAGES ? this.#move : this.#restart).get() ?? EMPTY;
    const now = performance.now();
    this.#notBefore = now + REST_MS;
    // Another process is moving the log: nothing was done here, and the next commit asks again.
    if (after.log < 0) return;
    this.#left = after;
    // The rate follows from the pages that were moved, not from those in the log: while a reader keeps all in the log, moving nothing takes
    // no time.
    const moved = after.checkpointed - before.checkpointed;
    if (moved >= FEW_PAGES) this.#most = Math.max(FEW_PAGES, (moved * PIECE_MS) / (now - began));
  }

  /** Call after each commit. */
  committed(): void {
    if (this.#isScheduled || this.#grown() < this.#most) return;
    this.#isScheduled = true;
    // Not in the same turn as the next transaction, which takes in what arrived meanwhile.
    const rest = Math.max(0, this.#notBefore - performance.now());
    setTimeout(() => {
      this.#isScheduled = false;
      try {
        if (this.#db.open) this.run();
      } catch {
        // Tried again at the interval, which reports a failure.
      }
    }, rest);
  }

  /** Moves a long log before this process ends: otherwise another process that has the file open would move it in one long piece. */
  end(): void {
    try {
      if (this.#grown() >= FEW_PAGES) this.run();
    } catch {
      // The log is durable as it is.
    }
  }

  /** Pages added to the log since the last move. */
  #grown(): number {
    const { log, checkpointed } = this.#look.get() ?? EMPTY;
    const isNew = checkpointed < this.#left.checkpointed || log < this.#left.log;
    return isNew ? log : log - this.#left.log;
  }
}
