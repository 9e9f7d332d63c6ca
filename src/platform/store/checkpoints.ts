import type { Database } from "better-sqlite3";

/** How long a checkpoint is to take, at most: everybody waits for it. */
const PIECE_MS = 8;
/** Pages of the log below which it does not pay. */
const FEW_PAGES = 500;
/** Between two there is time for others, where each takes long. */
const REST_MS = 25;

interface LogState {
  /** Pages in the write-ahead log. */
  readonly log: number;
  /** Of those, how many are in the database already: 0 again once the log began anew. */
  readonly checkpointed: number;
}

const EMPTY: LogState = { log: 0, checkpointed: 0 };

/**
 * Moves the write-ahead log into the database (https://sqlite.org/wal.html#ckpt). That is asked for at an interval; under load it is done in
 * between as well, whenever as much has come together as is moved in one short piece.
 */
export class Checkpoints {
  readonly #db: Database;
  readonly #look;
  readonly #move;
  /** Pages that are moved in about `PIECE_MS`. */
  #most = FEW_PAGES;
  /** What the last move left. */
  #left = EMPTY;
  /** No piece is moved before, monotonic milliseconds. */
  #notBefore = 0;
  #isScheduled = false;

  constructor(db: Database) {
    this.#db = db;
    this.#look = db.prepare<[], LogState>("PRAGMA wal_checkpoint(NOOP)");
    this.#move = db.prepare<[], LogState>("PRAGMA wal_checkpoint(PASSIVE)");
  }

  /** Moves what there is, as far as readers allow. */
  run(): void {
    const pages = this.#grown();
    const began = performance.now();
    const after = this.#move.get();
    const now = performance.now();
    this.#left = after ?? EMPTY;
    this.#notBefore = now + REST_MS;
    if (pages >= FEW_PAGES) this.#most = Math.max(FEW_PAGES, (pages * PIECE_MS) / (now - began));
  }

  /** Told of each commit. */
  committed(): void {
    if (this.#isScheduled || this.#grown() < this.#most) return;
    this.#isScheduled = true;
    // Not in one turn with the next transaction, which comes after what was received meanwhile.
    const rest = Math.max(0, this.#notBefore - performance.now());
    setTimeout(() => {
      this.#isScheduled = false;
      try {
        if (this.#db.open) this.run();
      } catch {
        // Tried again at the interval, where a failure is told.
      }
    }, rest);
  }

  /** Pages that came to the log since it was moved last. */
  #grown(): number {
    const { log, checkpointed } = this.#look.get() ?? EMPTY;
    const isNew = checkpointed < this.#left.checkpointed || log < this.#left.log;
    return isNew ? log : log - this.#left.log;
  }
}
