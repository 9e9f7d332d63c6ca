import { DAY_MS, MINUTE_MS } from "../../kit/clock.ts";

/** Sessions of this many days before an entry are looked at. */
const DAYS_BEFORE = 30;
/** A date is the writer's own; his day may begin so much before and end so much after that of UTC. */
const ZONES_MS = 14 * 60 * MINUTE_MS;
/** Commits are dated late, and by another clock than sessions. */
const SLACK_BEFORE_MS = 5 * MINUTE_MS;
const SLACK_AFTER_MS = 30 * MINUTE_MS;

/** Instants, milliseconds since the epoch, both inclusive. */
export interface Interval {
  readonly from: number;
  readonly to: number;
}

export interface Window {
  readonly startedAt: number | null;
  readonly endedAt: number | null;
}

/** The day of an entry, wherever it was written. @param date YYYY-MM-DD, a day of the calendar */
export function dayOf(date: string): Interval {
  const midnight = Date.parse(`${date}T00:00:00Z`);
  return { from: midnight - ZONES_MS, to: midnight + DAY_MS + ZONES_MS };
}

/** When a session that caused an entry may have run: from 30 days before the entry's day to that day's end. */
export function reachOf(date: string): Interval {
  const day = dayOf(date);
  return { from: day.from - DAYS_BEFORE * DAY_MS, to: day.to };
}

/** Whether a session's window, with its slack, has an instant in common with an interval. A session without a window has none. */
export function overlaps({ startedAt, endedAt }: Window, { from, to }: Interval): boolean {
  if (startedAt === null || endedAt === null) return false;
  return startedAt - SLACK_BEFORE_MS <= to && endedAt + SLACK_AFTER_MS >= from;
}

/** How long a session may be that is found by the date alone. */
const MAX_SESSION_MS = 7 * DAY_MS;

/** When sessions began that may overlap an interval. */
export function startsFor({ from, to }: Interval): Interval {
  return { from: from - MAX_SESSION_MS, to: to + SLACK_BEFORE_MS };
}

/** The first and last date of entries that a session may have caused, YYYY-MM-DD; undefined without a window. */
export function datesFor({ startedAt, endedAt }: Window): { readonly from: string; readonly to: string } | undefined {
  if (startedAt === null || endedAt === null) return undefined;
  return {
    from: dateText(startedAt - SLACK_BEFORE_MS - ZONES_MS - DAY_MS),
    to: dateText(endedAt + SLACK_AFTER_MS + ZONES_MS + DAYS_BEFORE * DAY_MS),
  };
}

const LAST_INSTANT = Date.UTC(9999, 11, 31);

function dateText(at: number): string {
  return new Date(Math.min(Math.max(at, 0), LAST_INSTANT)).toISOString().slice(0, 10);
}
