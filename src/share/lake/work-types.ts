import type { TableName } from "./tables.ts";

/** What is handed to a thread, and back. */

/** Rows of a table, in portions of JSON. */
export interface RowsInput {
  readonly table: TableName;
  readonly portions: readonly Uint8Array[];
}

/** Texts of a stream, and where in them what lies. */
export interface BlockInput {
  readonly shard: string;
  /** Null for what lies in none. */
  readonly block: number | null;
  readonly deviceId: string;
  readonly repoKey: string;
  readonly content: Uint8Array;
  readonly isCompressed: boolean;
  readonly parts: readonly {
    readonly firstId: number;
    readonly at: number;
    readonly bytes: number;
    readonly receivedAt: number;
  }[];
}

/** A file that was made. */
export interface Made {
  readonly rows: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** One of a block: the entries that came on a day, in days since the epoch. */
export interface MadeOfDay extends Made {
  readonly day: number;
}

/** Names of the works, as jobs for threads are called. */
export const ROWS_WORK = "lake-rows";
export const BLOCK_WORK = "lake-block";
