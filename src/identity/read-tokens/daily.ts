import type { Decision } from "../../kit/buckets.ts";
import { DAY_MS, SECOND_MS } from "../../kit/clock.ts";

/** The day of an instant: days since the epoch, UTC, by the wall clock. */
export const dayOf = (now: number): number => Math.floor(now / DAY_MS);

/**
 * What is left of a daily cap. Unlike a bucket, which refills all the time, it is whole again at midnight UTC.
 * @param used reads already counted today
 * @param now wall-clock milliseconds
 */
export function judgeDay(used: number, cap: number, now: number): Decision {
  const untilMidnight = Math.max(1, Math.ceil(((dayOf(now) + 1) * DAY_MS - now) / SECOND_MS));
  const allowed = used < cap;
  return {
    allowed,
    limit: cap,
    remaining: Math.max(0, cap - used),
    resetSeconds: untilMidnight,
    retryAfterSeconds: allowed ? 0 : untilMidnight,
  };
}
