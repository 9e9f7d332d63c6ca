import type { Database } from "better-sqlite3";
import type { Payer } from "../../kit/fair-queue.ts";
import type { CommitStats } from "./commit.ts";

export interface Store {
  readonly db: Database;
  readonly directory: string;
  /** The result of `prepare` for this database; made at its first use and kept. See `statements`. */
  prepared<T>(prepare: (db: Preparer, has: HasColumn) => T): T;
  /** Runs row changes in the shared transaction; resolves after they are durable. See CommitQueue.write. */
  write<T>(change: () => T, payer?: Payer): Promise<T>;
  /** Runs row changes at once, unless another process is writing; false then. See CommitQueue.tryWrite. */
  tryWrite(change: () => unknown): boolean;
  readonly stats: CommitStats;
  /** The last transaction could not be stored, or none can be any more. */
  readonly failing: boolean;
  /** Moves the write-ahead log into the database, as far as readers allow, if anything was written since last time. */
  checkpoint(): void;
  /** Gives back some of the room of removed rows where that is much. @param steps some milliseconds each */
  giveBack(steps: number): Promise<void>;
  /** Gives back the room of removed rows, overwrites what is left of them, and empties the write-ahead log. @returns false while another process reads from the log */
  reclaim(): Promise<boolean>;
  /** A number that changes when another process commits (SQLite's data_version). */
  outsideVersion(): number;
  /** Makes a function that tells whether another process committed since it last said so; see `outsideWatch`. */
  watchOutside(): (now: number) => boolean;
  /**
   * Calls back whenever a row of these tables is changed or removed through this connection, committed or not.
   * @param of `column`: the listener gets its former value in that row; `added`: also called for a new row
   */
  onChange(
    tables: readonly string[],
    listener: (value: unknown) => void,
    of?: { readonly column: string; readonly added?: boolean },
  ): void;
  /** Whether the database is still the file that was opened. Once it is not, every write is refused: it would be lost. */
  checkInPlace(): boolean;
  walBytes(): number;
  close(): void;
}

/** Whether the schema has a table with such a column. */
export type HasColumn = (table: string, column: string) => boolean;

/** Prepares statements: an open database, or a stand-in for one whose schema may lack some tables or columns. */
export type Preparer = Pick<Database, "prepare">;
