import type { Attribution } from "../../../../insight/causes/causes.ts";
import { type Metrics, type Trend, weeklyHistory } from "../../../../insight/defects/defects.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { barChart } from "../../ui/chart.ts";
import { type Stat, stats } from "../../ui/parts.ts";
import { dayText, number, plural } from "../../ui/units.ts";
import type { Member } from "../shared/call.ts";

/** How many entries there are, whether they become more. */

const WEEKS_SHOWN = 26;

const ARROWS = { up: "↑", down: "↓", flat: "→" } as const;

/** `3 entries in the last 7 days, against a mean of 1.67 in the three weeks before: up.` */
export function trendWords({ weeks, trend, priorMean }: Trend): string {
  const now = plural(weeks.at(-1)?.count ?? 0, "entry", "entries");
  return `${now} in the last 7 days, against a mean of ${number(priorMean)} in the three weeks before: ${trend}.`;
}

/** The trend for where room is short. */
export const trendShort = ({ trend, priorMean }: Trend): string =>
  `${ARROWS[trend]} ${trend}, from a mean of ${number(priorMean)}`;

export function figures(metrics: Metrics, { ofSessions, defects }: Attribution, here: string): Html {
  const { weeks, trend, total, openTotal, recurring, skipped } = metrics;
  const tiles: Stat[] = [
    {
      label: "Last 7 days",
      value: number(weeks.at(-1)?.count ?? 0),
      sub: trendShort(metrics),
      tone: trend === "up" ? "warn" : trend === "down" ? "good" : undefined,
    },
    {
      label: "Open",
      value: number(openTotal),
      sub: `of ${plural(total, "entry", "entries")} in errors.md`,
      href: openTotal > 0 ? "#open" : undefined,
      tone: openTotal > 0 ? "warn" : undefined,
    },
    {
      label: "Came again",
      value: number(recurring.length),
      sub: recurring.length === 1 ? "class with more than one entry" : "classes with more than one entry",
      href: recurring.length > 0 ? "#recurring" : undefined,
    },
    {
      label: "Caused by a session",
      value: number(ofSessions),
      sub: defects > ofSessions ? `and ${number(defects - ofSessions)} by a commit` : "by evidence or somebody's word",
      href: ofSessions > 0 ? "#causes" : undefined,
    },
  ];
  const first = here === "" ? "" : ` in ${here}`;
  return html`<section class="section" aria-label="Figures">${stats(tiles)}${skipped > 0 && html`<p class="says">${plural(skipped, "heading has", "headings have")} no date${first}, so nothing counts ${skipped === 1 ? "it" : "them"}. An entry begins with <code>## YYYY-MM-DD</code>.</p>`}</section>`;
}

/** Weeks of seven days, the last one ending today: those of the trend stand out from what was before. */
export function trendChart({ core, session }: Member, metrics: Metrics, repoKey: string | undefined): Html {
  const history = weeklyHistory(core, session.team.id, WEEKS_SHOWN, repoKey);
  const early = history.length - metrics.weeks.length;
  return barChart({
    title: "Entries per week",
    summary: trendWords(metrics),
    period: "Week until",
    unit: "entries",
    series: [
      { name: "the four weeks of the trend", tone: "accent" },
      { name: "before", tone: "neutral" },
    ],
    days: history.map(({ end, count }, i) => ({
      label: dayText(end).replace(/ \d{4}$/, ""),
      iso: end,
      values: i < early ? [null, count] : [count, null],
    })),
  });
}
