import { DAY_MS } from "../kit/clock.ts";
import { isDate } from "../kit/date.ts";

/** Days that spend is asked for, as people write them. */

const DATE_TIME = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:[Zz]|[+-]\d\d:\d\d)$/;
const DAYS = /^([1-9]\d{0,3})d$/;

/** What `since` is when nobody says. */
export const DEFAULT_SINCE = "30d";

/** @returns milliseconds since the epoch; undefined when the text is no date and no date-time that exists */
function readDate(text: string): number | undefined {
  if (!isDate(text.slice(0, 10)) || (text.length > 10 && !DATE_TIME.test(text))) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}

export const isSince = (text: string): boolean => DAYS.test(text) || readDate(text) !== undefined;
export const isUntil = (text: string): boolean => readDate(text) !== undefined;

/**
 * The days from `since` to `until`, both whole and both included. A number of days (`30d`) counts back from `until` and
 * includes it.
 * @param now milliseconds since the epoch; what `until` is when nobody says
 * @returns instants of the first and the last day; undefined when the last lies before the first
 */
export function readSpan(
  { since = DEFAULT_SINCE, until }: { readonly since?: string | undefined; readonly until?: string | undefined },
  now: number,
): { readonly from: number; readonly to: number } | undefined {
  const to = until === undefined ? now : (readDate(until) ?? now);
  const days = DAYS.exec(since)?.[1];
  const from = days === undefined ? (readDate(since) ?? to) : to - (Number(days) - 1) * DAY_MS;
  return Math.floor(from / DAY_MS) > Math.floor(to / DAY_MS) ? undefined : { from, to };
}
