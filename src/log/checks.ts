import type { Core } from "../core.ts";
import type { DeliveryRow } from "./rows.ts";

/** Stored content that is not what its delivery brought. */
export interface Mismatch {
  /** The delivery that the content belongs to or names; 0 for none. */
  readonly deliveryId: number;
  readonly kind: DeliveryRow["kind"];
  /**
   * `content`: it is gone or altered; `owner`: it is another device's, repository's or team's; `stray`: no delivery brought it; `newest`:
   * what is marked as the newest is not.
   */
  readonly problem: "content" | "owner" | "stray" | "newest";
  /** Which row, and what is wrong with it. */
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
  /** Call after the last delivery: reports rows that no delivery claimed, and what concerns no single delivery. */
  finish(): void;
  /** Ends what is still being read; call in any case. */
  close(): void;
}

/**
 * Rows in the order of their deliveries, handed out delivery by delivery and never held together. A row where no delivery can have put it
 * is stray.
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
   * The rows of a delivery. Call with ascending ids, and run each generator to its end.
   * @param expected how many rows the delivery brought; while some are missing, misplaced rows in between are passed over
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

  /** Whether a row's delivery id must have been altered. Such a row must not keep the rows after it from their deliveries. */
  #isMisplaced(row: Row, deliveryId: number, isMissing: boolean): boolean {
    const after = this.#afterNext?.deliveryId ?? Number.POSITIVE_INFINITY;
    return row.deliveryId > this.#head || (isMissing && after >= deliveryId && after < row.deliveryId);
  }

  #advance(): void {
    this.#next = this.#afterNext;
    this.#afterNext = this.#next && this.#read();
  }

  #read(): Row | undefined {
    return this.#rows.next().value;
  }
}
