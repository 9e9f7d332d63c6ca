import { DAY_MS, dayNumber } from "../../kit/clock.ts";
import { DAY_OR_TIME, FIRST_DAY } from "../../kit/date.ts";

/** Periods: the whole days, UTC, that spend is asked for, as people write them. */

const DAYS = /^([1-9]\d{0,3})d$/;
/** What `until` may be. */
export const UNTIL = DAY_OR_TIME;
/** What `since` may be: the same, or a number of days. */
export const SINCE = new RegExp(`${DAYS.source}|${UNTIL.source}`);

/** The last day that can be written; an offset can lead beyond it, as beyond the first. */
const LAST_DAY = Date.parse("9999-12-31T00:00:00Z");

/** The default of `since`. */
const DEFAULT_SINCE = "30d";

/** @returns milliseconds since the epoch; undefined when the text is no date and no date-time that exists */
const readDate = (text: string): number | undefined => (isUntil(text) ? Date.parse(text) : undefined);

export const isSince = (text: string): boolean => SINCE.test(text);
export const isUntil = (text: string): boolean => UNTIL.test(text);

/**
 * The days from `since` to `until`, both whole and both included. A number of days (`30d`) counts back from `until` and
 * includes it.
 * @param now milliseconds since the epoch; what `until` is when nobody says
 * @returns instants of the first and the last day; undefined when the last lies before the first
 */
export function readPeriod(
  { since = DEFAULT_SINCE, until }: { readonly since?: string | undefined; readonly until?: string | undefined },
  now: number,
): { readonly from: number; readonly to: number } | undefined {
  const to = until === undefined ? now : (readDate(until) ?? now);
  const days = DAYS.exec(since)?.[1];
  const first = days === undefined ? (readDate(since) ?? to) : to - (Number(days) - 1) * DAY_MS;
  if (dayNumber(first) > dayNumber(to)) return undefined;
  const within = (at: number) => Math.min(Math.max(at, FIRST_DAY), LAST_DAY);
  return { from: within(first), to: within(to) };
}
