import { DAY_MS, dateOfDay, dayNumber } from "../../../../kit/clock.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { choices } from "../../ui/parts.ts";
import { number } from "../../ui/units.ts";
import type { Member } from "../shared/call.ts";
import { link } from "../shared/links.ts";
import { DAYS, readParams } from "../shared/params.ts";

/** The days that the overview looks at, until today or the day that is asked for, and as many before them to compare with. */

const PERIODS = [7, 30, 90] as const;
const DEFAULT_DAYS = 7;

export interface Period {
  /** Number of days. */
  readonly days: number;
  /** Days since the epoch, UTC: the first and the last, and the first of the days before. */
  readonly first: number;
  readonly last: number;
  readonly before: number;
  /** Whether the last lies before today. */
  readonly isPast: boolean;
}

export function periodOf({ core, query }: Member): Period {
  const days = PERIODS.find((one) => String(one) === query.get("days")) ?? DEFAULT_DAYS;
  const today = dayNumber(core.clock.now());
  const { to } = readParams(DAYS, query);
  const last = to === "" ? today : Math.min(Date.parse(to) / DAY_MS, today);
  const first = last - days + 1;
  return { days, first, last, before: first - days, isPast: last < today };
}

export const periodSwitch = (call: Member, { days, last, isPast }: Period): Html =>
  choices(
    "Period",
    PERIODS.map((one) => ({
      label: `${one} days`,
      href: link(call, "/overview", {
        days: one === DEFAULT_DAYS ? undefined : one,
        to: isPast ? dateOfDay(last) : undefined,
      }),
      current: one === days,
    })),
  );

/** A figure of each day of the period and of those before. */
export interface Course {
  /** The days of the period, oldest first. */
  readonly values: readonly number[];
  readonly total: number;
  /** The sum over the days before. */
  readonly before: number;
}

/** @param of the figure by day since the epoch */
export function courseOf({ first, last, before }: Period, of: ReadonlyMap<number, number>): Course {
  const span = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => of.get(from + i) ?? 0);
  const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);
  const values = span(first, last);
  return { values, total: sum(values), before: sum(span(before, first - 1)) };
}

/**
 * How a figure changed against the days before: `↑ 12 %`. Nothing where there is nothing to compare.
 * @param better which way is good; neither where it is left out
 * @param spell the figure before, in words
 */
export function change(
  { days }: Period,
  { total, before }: Pick<Course, "total" | "before">,
  better?: "more" | "fewer",
  spell: (value: number) => string = number,
): Html | false {
  if (before === 0) return false;
  const percent = Math.round(((total - before) / before) * 100);
  const title = `${spell(before)} in the ${days} days before`;
  if (percent === 0) return html`<span class="delta" title="${title}">± 0 %</span>`;
  const looks = better === undefined ? "" : percent > 0 === (better === "more") ? "good" : "bad";
  const share = percent > 999 ? `× ${number(Math.round(total / before))}` : `${Math.abs(percent)} %`;
  return html`<span class="delta ${looks}" title="${title}"><span class="vh">${percent > 0 ? "up" : "down"} </span><span aria-hidden="true">${percent > 0 ? "↑" : "↓"} </span>${share}<span class="vh"> against the ${days} days before</span></span>`;
}
