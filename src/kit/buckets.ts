/** A quota: `count` in `seconds`. */
export interface Quota {
  readonly count: number;
  readonly seconds: number;
}

/** What a bucket says of one request. */
export interface Decision {
  readonly allowed: boolean;
  readonly limit: number;
  /** Whole requests left now. */
  readonly remaining: number;
  /** Seconds, rounded up, until the quota is whole again. */
  readonly resetSeconds: number;
  /** Seconds, rounded up and at least one, until a request would be allowed; 0 when this one was. */
  readonly retryAfterSeconds: number;
}

/**
 * A token bucket in its one-number form (GCRA, ITU-T I.371 annex A): the instant at which the bucket will be full again.
 * Pure: no clock, no state.
 * @param fullAt when the bucket is full, monotonic milliseconds; undefined for a bucket never drawn from
 * @param now monotonic milliseconds
 * @param cost how much of the quota is drawn
 */
export function draw(
  fullAt: number | undefined,
  now: number,
  { count, seconds }: Quota,
  cost = 1,
): { fullAt: number; decision: Decision } {
  const perToken = (seconds * 1000) / count;
  const from = Math.max(fullAt ?? now, now);
  const next = from + perToken * cost;
  const span = seconds * 1000;
  // A millisecond's slack keeps rounding of perToken from refusing the last token of a full bucket.
  const allowed = next - now <= span + 1e-3;
  const filled = allowed ? next : from;
  const remaining = Math.max(0, Math.floor((span - (filled - now)) / perToken + 1e-6));
  return {
    fullAt: filled,
    decision: {
      allowed,
      limit: count,
      remaining,
      resetSeconds: Math.ceil((filled - now) / 1000),
      retryAfterSeconds: allowed ? 0 : Math.max(1, Math.ceil((next - span - now) / 1000)),
    },
  };
}

/** Buckets by key, a bounded number: under a flood of addresses, full and least recently used buckets make room. */
export class Buckets {
  readonly #fullAt = new Map<string, number>();
  readonly #most: number;

  constructor(most = 100_000) {
    this.#most = most;
  }

  get size(): number {
    return this.#fullAt.size;
  }

  take(key: string, now: number, quota: Quota, cost = 1): Decision {
    const known = this.#fullAt.get(key);
    const { fullAt, decision } = draw(known, now, quota, cost);
    // Re-inserting keeps the map in order of last use, so the front holds those that refilled longest ago.
    if (known !== undefined) this.#fullAt.delete(key);
    else if (this.#fullAt.size >= this.#most) this.#makeRoom(now);
    this.#fullAt.set(key, fullAt);
    return decision;
  }

  /** Undoes one draw, for a request that turned out not to count. */
  giveBack(key: string, now: number, { count, seconds }: Quota): void {
    const fullAt = this.#fullAt.get(key);
    if (fullAt === undefined) return;
    const before = fullAt - (seconds * 1000) / count;
    if (before <= now) this.#fullAt.delete(key);
    else this.#fullAt.set(key, before);
  }

  #makeRoom(now: number): void {
    let examined = 0;
    for (const [key, fullAt] of this.#fullAt) {
      // A full bucket equals a missing one, so it can go. Without full ones, the least recently used goes.
      if (fullAt <= now || this.#fullAt.size >= this.#most) this.#fullAt.delete(key);
      if (++examined >= 64) return;
    }
  }
}

/** Of several decisions the one to report: a refusal before a permission, then the one nearest exhaustion. */
export function nearestExhaustion(decisions: readonly Decision[]): Decision | undefined {
  return [...decisions].sort(
    (a, b) =>
      Number(a.allowed) - Number(b.allowed) ||
      b.retryAfterSeconds - a.retryAfterSeconds ||
      a.remaining - b.remaining ||
      b.resetSeconds - a.resetSeconds,
  )[0];
}
