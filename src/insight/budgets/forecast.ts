import { DAY_MS, dayNumber } from "../../kit/clock.ts";
import type { Period } from "./rows.ts";

/** The forecast of a period's end if spending goes on as it went; days are since the epoch, UTC. */

/** A calendar week from Monday on, or a calendar month. */
export interface Span {
  readonly first: number;
  readonly last: number;
}

/** The period that an instant lies in. */
export function spanAt(period: Period, now: number): Span {
  const today = dayNumber(now);
  if (period === "week") {
    // The epoch was a Thursday.
    const first = today - ((((today + 3) % 7) + 7) % 7);
    return { first, last: first + 6 };
  }
  const date = new Date(now);
  const month = (ahead: number) => Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + ahead, 1) / DAY_MS;
  return { first: month(0), last: month(1) - 1 };
}

/** Days before a period that tell how much less is spent on a day of a weekend. */
export const HISTORY_DAYS = 28;
/** The weight where the days before tell nothing. */
const USUAL_WEEKEND = 0.2;
/** Working days that must have gone by before anything is foretold. */
const ENOUGH: Readonly<Record<Period, number>> = { week: 1, month: 3 };

const isWeekend = (day: number) => [2, 3].includes(((day % 7) + 7) % 7);

/** How much of a working day's spend a day of a weekend has: 0 to 1. */
function weekendWeight(first: number, spentOn: (day: number) => number): number {
  let [work, weekend] = [0, 0];
  for (let day = first - HISTORY_DAYS; day < first; day++)
    if (isWeekend(day)) weekend += spentOn(day);
    else work += spentOn(day);
  // Of four weeks, 20 days and 8.
  return work === 0 ? USUAL_WEEKEND : Math.min(1, weekend / 8 / (work / 20));
}

export interface Forecast {
  /** Dollars at the period's end; null while it is too early to say. */
  readonly usd: number | null;
  /** The day on which the amount is reached, if it is in the period. */
  readonly exceedsOn: number | null;
}

/**
 * Run rate by working days: what was spent so far for each that went by, times those that are left. A day of a weekend counts as
 * much of one as it did in the four weeks before; today counts as far as it is over.
 * @param spentOn dollars of a day
 */
export function forecast(
  period: Period,
  { first, last }: Span,
  now: number,
  amount: number,
  spentOn: (day: number) => number,
): Forecast {
  const today = dayNumber(now);
  const weekend = weekendWeight(first, spentOn);
  const weightOf = (day: number) => (isWeekend(day) ? weekend : 1);
  const over = now / DAY_MS - today;
  let [used, gone] = [0, weightOf(today) * over];
  for (let day = first; day <= today; day++) {
    used += spentOn(day);
    if (day < today) gone += weightOf(day);
  }
  if (gone < ENOUGH[period]) return { usd: null, exceedsOn: null };
  const rate = used / gone;
  let usd = used + rate * weightOf(today) * (1 - over);
  let exceedsOn = used < amount && usd > amount ? today : null;
  for (let day = today + 1; day <= last; day++) {
    usd += rate * weightOf(day);
    if (exceedsOn === null && used < amount && usd > amount) exceedsOn = day;
  }
  return { usd, exceedsOn };
}
