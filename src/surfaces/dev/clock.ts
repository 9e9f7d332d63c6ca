import { type Clock, isoInstant } from "../../kit/clock.ts";

/** The times that a clock may show: ids spell an instant in six bytes, and ISO 8601 has years of four digits. */
const EARLIEST = Date.UTC(2000, 0);
const LATEST = Date.UTC(9999, 0);
export const RANGE = "from 2000 to 9998";
export const isWithinRange = (at: number): boolean => at >= EARLIEST && at <= LATEST;

/** The state of a moved clock that is kept over a restart. */
export interface ClockState {
  /** Milliseconds by which it is ahead of the clock it is based on; negative behind. */
  readonly shiftMs: number;
  /** The instant at which it stands still; null while it runs. */
  readonly frozenAt: number | null;
}

/**
 * A clock that can be frozen, advanced and set. Advancing moves the monotonic clock as well, so that quotas refill and poll
 * intervals pass as they would by waiting; setting it back moves the wall clock alone, as an operator or NTP does.
 */
export class LocalClock implements Clock {
  readonly #base: Clock;
  #shift = 0;
  #monotonicShift = 0;
  #frozen: { now: number; monotonic: number } | undefined;

  constructor(base: Clock) {
    this.#base = base;
  }

  now = (): number => this.#frozen?.now ?? this.#base.now() + this.#shift;
  monotonic = (): number => this.#frozen?.monotonic ?? this.#base.monotonic() + this.#monotonicShift;

  get frozen(): boolean {
    return this.#frozen !== undefined;
  }

  /** @param ms not negative */
  advance(ms: number): void {
    if (this.#frozen) this.#frozen = { now: this.#frozen.now + ms, monotonic: this.#frozen.monotonic + ms };
    else {
      this.#shift += ms;
      this.#monotonicShift += ms;
    }
  }

  /** @param at milliseconds since the epoch */
  set(at: number): void {
    const by = at - this.now();
    if (by >= 0) this.advance(by);
    else if (this.#frozen) this.#frozen = { ...this.#frozen, now: at };
    else this.#shift += by;
  }

  freeze(): void {
    this.#frozen ??= { now: this.now(), monotonic: this.monotonic() };
  }

  /** Lets it run on from the instant at which it stands. */
  run(): void {
    if (!this.#frozen) return;
    const { now, monotonic } = this.#frozen;
    this.#frozen = undefined;
    this.#shift = now - this.#base.now();
    this.#monotonicShift = monotonic - this.#base.monotonic();
  }

  state(): ClockState {
    return { shiftMs: this.now() - this.#base.now(), frozenAt: this.#frozen?.now ?? null };
  }

  /** Restores an earlier state. */
  restore({ shiftMs, frozenAt }: ClockState): void {
    this.run();
    this.set(frozenAt ?? this.#base.now() + shiftMs);
    if (frozenAt !== null) this.freeze();
  }

  describe() {
    return { now: isoInstant(this.now()), frozen: this.frozen, aheadMs: this.now() - this.#base.now() };
  }
}
