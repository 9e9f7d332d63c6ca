import { slot } from "../../core.ts";
import { SECOND_MS } from "../../kit/clock.ts";

/** Seconds between polls until a tool is told to slow down, and what each too early poll adds (RFC 8628 section 3.5). */
export const INTERVAL_SECONDS = 5;
const STEP_MS = 5 * SECOND_MS;
const MAX = 50_000;

interface Pace {
  goodAt: number;
  intervalMs: number;
  /** When its authorization has expired. */
  readonly until: number;
}

/**
 * How fast each authorization is polled. Instants are monotonic milliseconds, so that a wall clock that is set changes no
 * interval. Kept in memory: a restart forgives one early poll.
 */
export class Pacing {
  readonly #paces = new Map<string, Pace>();
  readonly #max: number;

  constructor(max = MAX) {
    this.#max = max;
  }

  get size(): number {
    return this.#paces.size;
  }

  /** Whether a poll comes too early; if so its interval is longer from now on, counted from the last poll that was in time. */
  early(key: string, now: number): boolean {
    const pace = this.#paces.get(key);
    if (!pace || now - pace.goodAt >= pace.intervalMs) return false;
    pace.intervalMs += STEP_MS;
    return true;
  }

  /** Notes a poll in time. @param lifetimeMs what is left of the authorization */
  note(key: string, now: number, lifetimeMs: number): void {
    const pace = this.#paces.get(key);
    if (pace) {
      pace.goodAt = now;
      return;
    }
    this.#makeRoom(now);
    this.#paces.set(key, { goodAt: now, intervalMs: INTERVAL_SECONDS * SECOND_MS, until: now + lifetimeMs });
  }

  /** Forgets a finished authorization. */
  forget(key: string): void {
    this.#paces.delete(key);
  }

  /** Removes the oldest entries: tools that stopped polling are at the front. */
  #makeRoom(now: number): void {
    for (const [key, { until }] of this.#paces) {
      if (until > now && this.#paces.size < this.#max) return;
      this.#paces.delete(key);
    }
  }
}

export const pacing = slot(() => new Pacing());
