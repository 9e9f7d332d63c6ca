import { FairQueue, type Payer } from "../../kit/fair-queue.ts";

/** A change that takes longer is large: in milliseconds. */
const LARGE_MS = 5;
/**
 * A team of which a change was large is expected to bring more such changes for so long, or until so many in a row were as short as most
 * are: the large one may have waited for the machine.
 */
const REMEMBERED_MS = 1_000;
const FORGOTTEN_AFTER = 5;
const SHORT_MS = 1;

/**
 * The queue of changes to be committed. Small changes share a transaction. Changes of a team of which one took long a moment ago have a
 * transaction each, and take turns with the small ones: so a team that delivers much makes others wait for one of its changes only.
 */
export class CommitOrder<T extends { readonly payer: Payer | undefined }> {
  readonly #small: T[] = [];
  readonly #large = new FairQueue<T>();
  /** Teams whose changes take long, until when they count as such (monotonic milliseconds), and how many in a row were short since. */
  readonly #long = new Map<string, { readonly until: number; short: number }>();
  #isLargeNext = false;

  get length(): number {
    return this.#small.length + this.#large.length;
  }

  push(item: T): void {
    const { payer } = item;
    if (payer && this.#long.has(payer.team)) this.#large.push(payer, item);
    else this.#small.push(item);
  }

  /** Notes how long a change of this payer took. @param now monotonic milliseconds */
  took({ payer }: T, milliseconds: number, now: number): void {
    if (!payer) return;
    const known = this.#long.get(payer.team);
    if (milliseconds > LARGE_MS) this.#long.set(payer.team, { until: now + REMEMBERED_MS, short: 0 });
    else if (known) known.short = milliseconds < SHORT_MS ? known.short + 1 : 0;
    if (known?.short === FORGOTTEN_AFTER) this.#long.delete(payer.team);
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
    for (const [team, { until }] of this.#long) if (until < now) this.#long.delete(team);
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
