import type { Core } from "../../core.ts";
import type { RowChange } from "./batches.ts";

/** A table that follows a source whose rows have growing numbers. */
export interface Projection {
  /** Stands in the database; never reused for another meaning. A new name fills the table anew. */
  readonly name: string;
  /**
   * Reads what follows `checkpoint`, as much as is worked through in a few milliseconds.
   * @param alone only the next row: together with others it failed, and they must not be lost with it
   * @returns undefined when nothing follows
   */
  next(core: Core, checkpoint: number, alone: boolean): Batch | undefined | Promise<Batch | undefined>;
  /**
   * The number of the newest row in its source; 0 before the first. With it, what follows from the source can be brought along when a team
   * moves.
   */
  newest?(core: Core): number;
  /**
   * The number of the row that follows `checkpoint`, without reading the row: where to go on when that fails. A projection without this
   * tries for ever.
   * @returns undefined when nothing follows
   */
  skip?(core: Core, checkpoint: number): number | undefined;
}

/** Rows read from the source, and the changes that follow from them. */
export interface Batch {
  /** The number of the last row read; above the checkpoint that was handed in. */
  readonly to: number;
  /**
   * Row changes that are too many for one transaction. Each part runs in a transaction of its own, before `apply`, and the next is asked
   * for once it is stored. When the process ends in between, `next` is called anew and begins with the rest.
   */
  readonly before?: Iterable<() => void> | AsyncIterable<() => void>;
  /** Row changes that do not read what another stores: as many as a transaction may hold share one, the last with `apply`. */
  readonly changes?: Iterable<RowChange> | AsyncIterable<RowChange>;
  /**
   * Row changes; runs inside the transaction that stores the checkpoint.
   * @returns whether more is left than one transaction should hold: then the checkpoint stays, and it is called again
   */
  readonly apply?: () => "more" | undefined;
}
