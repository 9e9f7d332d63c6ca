import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../kit/clock.ts";

/** When a message is tried, from the first time on: once more after each that failed, and given up after the last. */
const TRIES_AT_MS: readonly number[] = [
  0,
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  DAY_MS,
];

/** However late a try is, the next does not follow on its heels. */
const MIN_PAUSE_MS = 5 * SECOND_MS;
const LATE_PAUSE_MS = 5 * MINUTE_MS;

/** Whether all tries were had, so that a message that waits still is one whose process ended during the last. */
export const areAllHad = (tries: number): boolean => tries >= TRIES_AT_MS.length;

/**
 * When to try again. What was tried late, because the receiver asked for that or much waits for it, has missed tries: they are not made up for.
 * @param firstAt when the first try was due
 * @param tries so far
 * @param triedAt when the last of them began
 * @param retryAfterMs what the receiver desired for
 * @returns undefined after the last try
 */
export function nextTryAt(
  firstAt: number,
  tries: number,
  triedAt: number,
  now: number,
  retryAfterMs = 0,
): number | undefined {
  const passed = TRIES_AT_MS.filter((offset) => offset <= triedAt - firstAt).length;
  const offset = TRIES_AT_MS[Math.max(tries, passed)];
  // A message that is older than a day at its first try gets a second one: this machine may just have woken, its network not yet.
  if (offset === undefined) return tries === 1 ? now + LATE_PAUSE_MS : undefined;
  // A receiver may ask for patience, not for more than there is.
  const desired = Math.min(now + retryAfterMs, firstAt + DAY_MS);
  return Math.max(firstAt + offset, now + MIN_PAUSE_MS, desired);
}
