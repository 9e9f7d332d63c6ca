import type { Core } from "../core.ts";
import type { DeliveryRow } from "./rows.ts";

/** Something that is stored and is not what a delivery brought. */
export interface Mismatch {
  /** The delivery that it is of, or names; 0 where it is of none. */
  readonly deliveryId: number;
  readonly kind: DeliveryRow["kind"];
  /**
   * `content` is gone or not what was delivered; `owner`: it is another device's, repository's or team's; `stray`: no delivery
   * brought it; `newest`: what is said to be the newest is not.
   */
  readonly problem: "content" | "owner" | "stray" | "newest";
  /** Which row, and what of it. */
  readonly detail: string;
}

/** Takes a mismatch of the kind that is being checked. */
export type Report = (deliveryId: number, problem: Mismatch["problem"], detail: string) => void;

/** A kind of deliveries, as the room that stores them registers it. */
export interface DeliveryKind {
  readonly kind: DeliveryRow["kind"];
  /** Begins to compare what the room stores with the deliveries of this kind. @param head the newest delivery */
  openCheck(core: Core, head: number, report: Report): ContentCheck;
}

interface ContentCheck {
  /** Call for each, in ascending order. */
  check(delivery: DeliveryRow): void;
  /** Call after the last: reports what no delivery claimed, and what does not hang on one delivery. */
  finish(): void;
  /** Ends what is still being read; call in any case. */
  close(): void;
}

/**
 * Rows in the order in which deliveries brought them, handed out delivery by delivery and never held together. One that stands
 * where it cannot have come to stand is stray.
 */
export class RowsByDelivery<Row extends { readonly deliveryId: number }> {
  readonly #rows: Iterator<Row>;
  readonly #head: number;
  readonly #stray: (row: Row) => void;
  #next: Row | undefined;
  #afterNext: Row | undefined;

  /** @param head the newest delivery */
  constructor(rows: Iterator<Row>, head: number, stray: (row: Row) => void) {
    this.#rows = rows;
    this.#head = head;
    this.#stray = stray;
    this.#afterNext = this.#read();
    this.#advance();
  }

  /**
   * Those of a delivery; called with ascending ids, each run to its end.
   * @param expected how many it brought: while some are missing, rows in between are looked past
   */
  *of(deliveryId: number, expected: number): Generator<Row> {
    let count = 0;
    for (let row = this.#next; row !== undefined; row = this.#next) {
      if (row.deliveryId > deliveryId && !this.#isMisplaced(row, deliveryId, count < expected)) return;
      this.#advance();
      if (row.deliveryId !== deliveryId) this.#stray(row);
      else {
        count++;
        yield row;
      }
    }
  }

  /** All that are left are stray. */
  finish(): void {
    for (; this.#next !== undefined; this.#advance()) this.#stray(this.#next);
  }

  close(): void {
    this.#rows.return?.();
  }

  /** One altered row must not keep those behind it from the deliveries that they are of. */
  #isMisplaced(row: Row, deliveryId: number, isMissing: boolean): boolean {
    const after = this.#afterNext?.deliveryId ?? Number.POSITIVE_INFINITY;
    return row.deliveryId > this.#head || (isMissing && after >= deliveryId && after < row.deliveryId);
  }

  #advance(): void {
    this.#next = this.#afterNext;
    this.#afterNext = this.#next && this.#read();
  }

  #read(): Row | undefined {
    const { done, value } = this.#rows.next();
    return done ? undefined : value;
  }
}
