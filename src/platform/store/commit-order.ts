import { FairQueue, type Payer } from "../../kit/fair-queue.ts";

/** How long a team whose change took long is expected to bring more such changes. */
const REMEMBERED_MS = 1_000;

/**
 * The queue of changes to be committed. Small changes share a transaction. Changes of a team of which one took long a moment ago have a
 * transaction each, and take turns with the small ones: so a team that delivers much makes others wait for one of its changes only.
 */
export class CommitOrder<T extends { readonly payer: Payer | undefined }> {
  readonly #small: T[] = [];
  readonly #large = new FairQueue<T>();
  /** Teams whose changes take long, and until when they count as such, monotonic milliseconds. */
  readonly #until = new Map<string, number>();
  #isLargeNext = false;

  get length(): number {
    return this.#small.length + this.#large.length;
  }

  push(item: T): void {
    const { payer } = item;
    if (payer && this.#until.has(payer.team)) this.#large.push(payer, item);
    else this.#small.push(item);
  }

  /** Notes that a change of this payer took long. @param now monotonic milliseconds */
  tookLong({ payer }: T, now: number): void {
    if (payer) this.#until.set(payer.team, now + REMEMBERED_MS);
  }

  /** Whether the next change has a transaction for itself. */
  get isNextAlone(): boolean {
    return this.#isLargeDue ? this.#large.length > 0 : this.#small.length === 1;
  }

  get #isLargeDue(): boolean {
    return this.#small.length === 0 || (this.#isLargeNext && this.#large.length > 0);
  }

  /** Takes the changes of the next transaction, as long as more are asked for. @param now monotonic milliseconds */
  *turn(now: number): Generator<T> {
    for (const [team, until] of this.#until) if (until < now) this.#until.delete(team);
    const large = this.#isLargeDue ? this.#large.shift() : undefined;
    this.#isLargeNext = !large;
    if (large) yield large;
    else for (let next = this.#small.shift(); next; next = this.#small.shift()) yield next;
  }

  takeAll(): T[] {
    const all = this.#small.splice(0);
    for (let next = this.#large.shift(); next; next = this.#large.shift()) all.push(next);
    return all;
  }
}
