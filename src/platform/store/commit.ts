import type { Database } from "better-sqlite3";
import { isStorageTrouble, StoreUnavailable } from "../../kit/errors.ts";
import type { Payer } from "../../kit/fair-queue.ts";
import { CommitOrder } from "./commit-order.ts";

interface Waiting {
  readonly change: () => unknown;
  readonly payer: Payer | undefined;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

/** A transaction that has taken this long takes no more changes: others wait for it to end. */
const GROUP_MS = 10;

/** How long a write waits for another process that is writing, and how often it asks. */
const BUSY_MS = 5_000;
const BUSY_RETRY_MS = 5;

/** What group commit has done since start; read by metrics. */
export interface CommitStats {
  transactions: number;
  changes: number;
  failures: number;
}

/**
 * Group commit (DeWitt et al., 1984): changes that arrive together share one transaction and one fsync. Each runs in its own savepoint, so
 * one that throws undoes only itself, and each promise settles only after COMMIT returned, which with `synchronous=FULL` means after the
 * write-ahead log reached the disk. A long change is committed apart from the others. A change that is alone needs no savepoint, for which
 * SQLite would copy every page that is changed.
 */
export class CommitQueue {
  readonly stats: CommitStats = { transactions: 0, changes: 0, failures: 0 };
  /** Set once nothing may be written any more: the reason. */
  blocked: Error | undefined;
  /** The last transaction failed; cleared by the next that succeeds. */
  lastFailure: unknown;
  readonly #db: Database;
  readonly #committed: () => void;
  readonly #begin;
  readonly #commit;
  readonly #savepoint;
  readonly #release;
  readonly #undo;
  readonly #rollback;
  readonly #waiting = new CommitOrder<Waiting>();
  #scheduled = false;
  /** When the queue began to wait for another process that is writing, monotonic milliseconds. */
  #busySince: number | undefined;

  /** @param committed called after each transaction */
  constructor(db: Database, committed: () => void = () => {}) {
    this.#db = db;
    this.#committed = committed;
    this.#begin = db.prepare("BEGIN IMMEDIATE");
    this.#commit = db.prepare("COMMIT");
    this.#savepoint = db.prepare("SAVEPOINT change");
    this.#release = db.prepare("RELEASE change");
    this.#undo = db.prepare("ROLLBACK TO change");
    this.#rollback = db.prepare("ROLLBACK");
  }

  /**
   * Queues row changes. The closure runs once, synchronously, inside the shared transaction.
   * @param payer may have to wait for their own other changes, when these take long
   * @returns what the closure returned, after it is durable.
   * @throws what the closure threw (its rows undone), or StoreUnavailable when the transaction could not be stored.
   */
  write<T>(change: () => T, payer?: Payer): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ change, payer, resolve, reject });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    // After the I/O phase of this turn: by then every request that arrived with this one has queued its change.
    setImmediate(() => this.flush());
  }

  /**
   * Runs a change at once in a transaction of its own, without waiting for another process that is writing.
   * @returns whether it is durable; false when another process has the write lock
   * @throws StoreUnavailable when the transaction could not be stored.
   */
  tryWrite(change: () => unknown): boolean {
    try {
      if (this.blocked) throw this.blocked;
      this.#begin.run();
      change();
      this.#commit.run();
    } catch (error) {
      if (!this.#db.inTransaction && isLockedOut(error)) return false;
      throw this.#giveUp(error);
    }
    this.#succeeded(1);
    return true;
  }

  /** Commits all that is queued, unless another process is writing. */
  drain(): void {
    for (let left = Number.POSITIVE_INFINITY; this.#waiting.length < left; this.flush()) left = this.#waiting.length;
  }

  /** Commits the next changes of the queue, now or as soon as no other process is writing. */
  flush(): void {
    this.#scheduled = false;
    if (this.#waiting.length === 0 || !this.#beginOrWait()) return;
    const group: Waiting[] = [];
    const outcomes: ({ value: unknown } | { error: unknown })[] = [];
    try {
      const began = performance.now();
      let at = began;
      const { isNextAlone } = this.#waiting;
      for (const waiting of this.#waiting.turn(began)) {
        // A change may queue another, which then is not alone.
        const isAlone = isNextAlone && group.length === 0;
        group.push(waiting);
        outcomes.push(isAlone ? this.#runAlone(waiting.change) : this.#runOne(waiting.change));
        const now = performance.now();
        this.#waiting.took(waiting, now - at, now);
        at = now;
        if (now - began > GROUP_MS || !this.#db.inTransaction) break;
      }
      if (this.#db.inTransaction) this.#commit.run();
    } catch (error) {
      this.#abandon(group, error);
      return;
    } finally {
      if (this.#waiting.length > 0) this.#schedule();
    }
    this.#succeeded(group.length);
    group.forEach(({ resolve, reject }, i) => {
      const outcome = outcomes[i] as { value: never } | { error: unknown };
      if ("error" in outcome) reject(outcome.error);
      else resolve(outcome.value);
    });
  }

  /**
   * Takes the write lock, or comes back for it. The connection itself waits for nothing (see `openStore`): SQLite's waiting
   * would stop every other request with it.
   * @returns whether a transaction has begun
   */
  #beginOrWait(): boolean {
    try {
      if (this.blocked) throw this.blocked;
      this.#begin.run();
      this.#busySince = undefined;
      return true;
    } catch (error) {
      const now = performance.now();
      this.#busySince ??= now;
      if (isLockedOut(error) && now - this.#busySince < BUSY_MS) {
        this.#scheduled = true;
        setTimeout(() => this.flush(), BUSY_RETRY_MS);
        return false;
      }
      this.#busySince = undefined;
      this.#abandon(this.#waiting.takeAll(), error);
      return false;
    }
  }

  #runOne(change: () => unknown): { value: unknown } | { error: unknown } {
    this.#savepoint.run();
    try {
      const value = change();
      this.#release.run();
      return { value };
    } catch (error) {
      // SQLite itself rolls the whole transaction back on a full disk or an I/O error: nobody in the group was stored.
      if (!this.#db.inTransaction || isStorageTrouble(error)) throw error;
      this.#undo.run();
      this.#release.run();
      return { error };
    }
  }

  /** As `#runOne`, for the only change of a transaction, which is over when the change throws. */
  #runAlone(change: () => unknown): { value: unknown } | { error: unknown } {
    try {
      return { value: change() };
    } catch (error) {
      if (!this.#db.inTransaction || isStorageTrouble(error)) throw error;
      this.#rollback.run();
      return { error };
    }
  }

  #succeeded(changes: number): void {
    this.lastFailure = undefined;
    this.stats.transactions++;
    this.stats.changes += changes;
    this.#committed();
  }

  #abandon(group: readonly Waiting[], error: unknown): void {
    const unavailable = this.#giveUp(error);
    for (const { reject } of group) reject(unavailable);
  }

  /** Leaves the transaction, if one has begun. */
  #giveUp(error: unknown): StoreUnavailable {
    try {
      if (this.#db.inTransaction) this.#db.exec("ROLLBACK");
    } catch {
      // The connection is already out of the transaction, which is what we want.
    }
    this.lastFailure = error;
    this.stats.failures++;
    return new StoreUnavailable("the store could not take the write", { cause: error });
  }
}

/** Whether another process has the write lock. */
const isLockedOut = (error: unknown) => (error as { code?: string }).code?.startsWith("SQLITE_BUSY") === true;
