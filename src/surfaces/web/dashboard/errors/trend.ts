import { errorCalendar } from "../../../../insight/defects/defects.ts";
import { type ClassQuery, newClassesByDay } from "../../../../insight/triage/triage.ts";
import { dateOfDay, dayNumber } from "../../../../kit/clock.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { barChart } from "../../ui/chart.ts";
import type { Point } from "../../ui/chart-frame.ts";
import { number, plural, shortDay } from "../../ui/units.ts";
import type { Member } from "../shared/call.ts";
import { link, type Query } from "../shared/links.ts";

/** How many entries came new, and how many again. */

const MAX_WEEKS = 26;
/** With fewer weeks than this, days are shown. */
const MIN_WEEKS = 4;
const WEEK_DAYS = 7;
const EVER = "0000-01-01";

/** Entries of some days: those that began a class, and the others. */
export interface Course {
  /** Oldest first, from the first entry on; the last one ends today. */
  readonly spans: readonly CourseSpan[];
  readonly unit: "day" | "week";
  /** All that there are, also from before the first span. */
  readonly entries: number;
}

interface CourseSpan {
  /** First and last day, YYYY-MM-DD. */
  readonly from: string;
  readonly to: string;
  readonly fresh: number;
  readonly again: number;
}

/** When entries came, by week, or by day while there are only a few weeks of them; at most half a year. */
export async function courseOf(
  { core, session }: Member,
  query: Pick<ClassQuery, "repoKey" | "kind">,
): Promise<Course> {
  const team = session.team.id;
  const from = errorCalendar.dayBefore(core, MAX_WEEKS * WEEK_DAYS - 1);
  const ever = await errorCalendar.entriesByDay(core, team, EVER, query);
  const all = ever.filter(({ date }) => date >= from);
  const fresh = await newClassesByDay(core, team, from, query);
  const today = dayNumber(core.clock.now());
  const first = Math.min(today, dayNumber(Date.parse(all[0]?.date ?? dateOfDay(today))));
  const unit = today - first < MIN_WEEKS * WEEK_DAYS ? "day" : "week";
  const length = unit === "day" ? 1 : WEEK_DAYS;
  const count = Math.max(unit === "day" ? WEEK_DAYS : 1, Math.ceil((today - first + 1) / length));
  const spans = Array.from({ length: count }, (_, i): CourseSpan => {
    const last = today - (count - 1 - i) * length;
    const [begin, end] = [dateOfDay(last - length + 1), dateOfDay(last)];
    // Includes tomorrow, which has begun somewhere.
    const until = i === count - 1 ? dateOfDay(today + 1) : end;
    const within = all.filter(({ date }) => date >= begin && date <= until);
    const sum = within.reduce((total, day) => total + day.count, 0);
    const began = within.reduce((total, { date }) => total + (fresh.get(date) ?? 0), 0);
    return { from: begin, to: until, fresh: Math.min(sum, began), again: Math.max(0, sum - began) };
  });
  return { spans, unit, entries: ever.reduce((sum, { count: ofDay }) => sum + ofDay, 0) };
}

/** What came in the last days. */
export function lately({ spans, unit }: Course): { readonly fresh: number; readonly again: number } {
  const last = unit === "week" ? spans.slice(-1) : spans.slice(-WEEK_DAYS);
  return {
    fresh: last.reduce((sum, { fresh }) => sum + fresh, 0),
    again: last.reduce((sum, { again }) => sum + again, 0),
  };
}

/** `5 entries in the last 7 days: 3 new, 2 came again.` */
export function courseWords(course: Course): string {
  const { fresh, again } = lately(course);
  const all = `${plural(fresh + again, "entry", "entries")} in the last 7 days`;
  return fresh + again === 0 ? `${all}.` : `${all}: ${number(fresh)} new, ${number(again)} came again.`;
}

/** @param kept what stays in the address that a bar leads to */
export function courseChart(call: Member, course: Course, kept: Query): Html {
  const { spans, unit } = course;
  const days = spans.map(({ from, to, fresh, again }): Point => {
    const label = shortDay(from);
    const href = `${link(call, "/errors", { ...kept, state: "all", from, to })}#entries`;
    return { label, iso: from, values: [again, fresh], ...(fresh + again > 0 && { href }) };
  });
  return html`${barChart({
    title: `Entries per ${unit}`,
    summary: courseWords(course),
    period: unit === "week" ? "Week from" : "Day",
    unit: ["entry", "entries"],
    series: [
      { name: "came again", tone: "bad" },
      { name: "new", tone: "accent" },
    ],
    days,
  })}`;
}
