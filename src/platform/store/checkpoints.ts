import type { Database } from "better-sqlite3";

/** How long a checkpoint is to take, at most: everybody waits for it. */
const PIECE_MS = 8;
/** Pages of the log below which it does not pay. */
const FEW_PAGES = 500;
/**
 * A log of so many pages is to begin anew. Two processes that write at once keep each other from it: one adds to it while the other moves.
 */
const MANY_PAGES = 8_192;
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
  readonly #restart;
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
    // Keeps others from writing while it moves, and waits for nobody: see `busy_timeout` in `openStore`.
    this.#restart = db.prepare<[], LogState>("PRAGMA wal_checkpoint(RESTART)");
  }

  /** Moves what there is, whoever wrote it, as far as readers allow. */
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
    // Another process moves it at the moment: then nothing was done here, and the next commit asks again.
    if (after.log < 0) return;
    this.#left = after;
    // By what was moved, not by what there was: where a reader keeps it all in the log, nothing is done in no time.
    const moved = after.checkpointed - before.checkpointed;
    if (moved >= FEW_PAGES) this.#most = Math.max(FEW_PAGES, (moved * PIECE_MS) / (now - began));
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

  /** Moves much that is left before this process goes: whoever has the file open beside it would do it in one long piece. */
  end(): void {
    try {
      if (this.#grown() >= FEW_PAGES) this.run();
    } catch {
      // It is durable where it is.
    }
  }

  /** Pages that came to the log since it was moved last. */
  #grown(): number {
    const { log, checkpointed } = this.#look.get() ?? EMPTY;
    const isNew = checkpointed < this.#left.checkpointed || log < this.#left.log;
    return isNew ? log : log - this.#left.log;
  }
}
