import { dateOfDay, dayNumber, HOUR_MS } from "../../kit/clock.ts";

/** Seven days and the entries dated in them. */
export interface Week {
  /** First day, YYYY-MM-DD. */
  readonly start: string;
  /** Last day, which counts. */
  readonly end: string;
  readonly count: number;
}

export interface Trend {
  /** Four, oldest first; the last ends today (UTC). */
  readonly weeks: readonly Week[];
  /** This week against the mean of the three before. */
  readonly trend: "up" | "down" | "flat";
  readonly priorMean: number;
}

const WEEKS = 4;
const WEEK_DAYS = 7;
/** Calendars are at most this far ahead of UTC (UTC+14). */
const FURTHEST_AHEAD_MS = 14 * HOUR_MS;

/** How many entries a day has. */
export interface DayCount {
  /** YYYY-MM-DD */
  readonly date: string;
  readonly count: number;
}

/** The first day of the weeks that end now, and the last day that counts: where it is tomorrow already, entries are dated so. */
export function trendRange(now: number, weeks = WEEKS): { readonly from: string; readonly to: string } {
  return { from: dateOfDay(dayNumber(now) - weeks * WEEK_DAYS + 1), to: dateOfDay(dayNumber(now + FURTHEST_AHEAD_MS)) };
}

/** Counts entries in rolling weeks of seven days, oldest first, the last one ending now. */
export function weeksUntil(days: readonly DayCount[], now: number, weeks = WEEKS): Week[] {
  const today = dayNumber(now);
  const { to } = trendRange(now);
  return Array.from({ length: weeks }, (_, i) => {
    const last = today - (weeks - 1 - i) * WEEK_DAYS;
    const [start, end] = [dateOfDay(last - WEEK_DAYS + 1), dateOfDay(last)];
    const until = i === weeks - 1 ? to : end;
    const count = days.reduce((sum, day) => sum + (day.date >= start && day.date <= until ? day.count : 0), 0);
    return { start, end, count };
  });
}

/**
 * Counts entries in four rolling weeks of seven days, the last one ending now. Entries of later days than anybody's today
 * are in none.
 * @param days how many entries each day has, by YYYY-MM-DD
 */
export function weeklyTrend(days: readonly DayCount[], now: number): Trend {
  const weeks = weeksUntil(days, now);
  const current = weeks.at(-1)?.count ?? 0;
  const prior = weeks.slice(0, -1).reduce((sum, week) => sum + week.count, 0);
  // In whole numbers, so that a mean such as 1/3 compares exactly.
  const difference = current * (WEEKS - 1) - prior;
  return {
    weeks,
    trend: difference > 0 ? "up" : difference < 0 ? "down" : "flat",
    priorMean: prior / (WEEKS - 1),
  };
}
