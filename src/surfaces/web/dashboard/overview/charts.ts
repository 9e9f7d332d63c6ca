import { dateOfDay } from "../../../../kit/clock.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { barChart } from "../../ui/chart.ts";
import type { Point } from "../../ui/chart-frame.ts";
import { columns } from "../../ui/parts.ts";
import { shortDay } from "../../ui/units.ts";
import type { Member } from "../shared/call.ts";
import { link } from "../shared/links.ts";
import { dollars, dollarTick } from "../spend/labels.ts";
import { allOf, inDays } from "./figures.ts";
import type { Period } from "./period.ts";
import type { Seen } from "./seen.ts";

/** Outcomes and spend by day; a day's bar leads to what happened on it. */
export function charts(call: Member, period: Period, seen: Seen): Html {
  return html`<section class="section" aria-label="By day">${columns(outcomes(call, period, seen), spend(call, period, seen))}</section>`;
}

/** The days of the period. @param values of the i-th, in the order of the series */
function days(call: Member, period: Period, path: `/${string}`, values: (i: number) => Point["values"]): Point[] {
  return Array.from({ length: period.days }, (_, i) => {
    const iso = dateOfDay(period.first + i);
    return {
      iso,
      label: shortDay(iso),
      values: values(i),
      href: link(call, path, { from: iso, to: iso }),
    };
  });
}

function outcomes(call: Member, period: Period, seen: Seen): Html {
  const { succeeded, failed, stopped, unknown } = seen.sessions;
  const kinds = [succeeded, stopped, failed, unknown];
  return barChart({
    title: "Outcomes by day",
    summary: `${inDays(allOf(seen).total, "session", period)}: ${succeeded.total} succeeded, ${failed.total} failed, ${stopped.total} stopped, ${unknown.total} did not say.`,
    unit: ["session", "sessions"],
    series: [
      { name: "Succeeded", tone: "good" },
      { name: "Stopped", tone: "warn" },
      { name: "Failed", tone: "bad" },
      { name: "Not said", tone: "neutral" },
    ],
    days: days(call, period, "/sessions", (i) => kinds.map(({ values }) => values[i] || null)),
  });
}

function spend(call: Member, period: Period, { spend: { course, priced } }: Seen): Html {
  return barChart({
    title: "Spend by day",
    summary: `${dollars(course.total)} in ${period.days} days.`,
    unit: ["US dollar", "US dollars"],
    spell: dollars,
    tick: dollarTick,
    series: [{ name: "Spend", tone: "accent" }],
    days: days(call, period, "/spend", (i) => [priced[i] ?? null]),
  });
}
