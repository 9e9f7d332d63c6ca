import type { Core } from "../../core.ts";
import type { RowChange } from "./batches.ts";

/** A table that follows a source whose rows have growing numbers. */
export interface Projection {
  /** Stands in the database; never reused for another meaning. A new name fills the table anew. */
  readonly name: string;
  /**
   * Reads what follows `checkpoint`, as much as is worked through in a few milliseconds.
   * @param alone only the next row: with others it failed, and they must not be lost with it
   * @returns undefined when nothing follows
   */
  next(core: Core, checkpoint: number, alone: boolean): Batch | undefined | Promise<Batch | undefined>;
  /** The number of the newest row that its source holds; 0 before the first. What it follows can come with a team where it is told. */
  newest?(core: Core): number;
  /**
   * The number of the row that follows `checkpoint`, not looking into it: where to go on when it cannot be worked through. A
   * projection without this tries for ever.
   * @returns undefined when nothing follows
   */
  skip?(core: Core, checkpoint: number): number | undefined;
}

/** What was read of the source, and what to make of it. */
export interface Batch {
  /** The number of the last row read; above the checkpoint that was handed in. */
  readonly to: number;
  /**
   * Row changes that are too many for one transaction: each part runs in one of its own, before `apply`, and the next is asked
   * for once it is stored. When the process ends, `next` is called anew and begins with what is left.
   */
  readonly before?: Iterable<() => void> | AsyncIterable<() => void>;
  /** Row changes none of which reads what another stores: as many as a transaction may hold share one, the last with `apply`. */
  readonly changes?: Iterable<RowChange> | AsyncIterable<RowChange>;
  /**
   * Row changes; runs inside the transaction that stores the checkpoint.
   * @returns whether more is left than one transaction should hold: then the checkpoint stays, and it is called again
   */
  readonly apply?: () => "more" | undefined;
}
