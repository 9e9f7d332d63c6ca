import { scaleLinear, scaleSqrt } from "d3-scale";
import { DAY_MS } from "../../../kit/clock.ts";
import { attributes, type Html, html } from "../../../kit/html.ts";
import { dayText, plural } from "./units.ts";

/** When something happened, along a line. Days are `YYYY-MM-DD`. */
export interface Occurrences {
  /** Each time by its day, in any order; days may come again. */
  readonly days: readonly string[];
  /** The ends of the line; the same for lines that are compared. */
  readonly from: string;
  readonly to: string;
  /** What happened, for who cannot see the line. */
  readonly summary: string;
  /** Larger, with the months named below. */
  readonly tall?: boolean | undefined;
}

const MAX_MONTHS = 5;
/** What is spelled out of the days, at most. */
const MAX_TOLD = 12;

/** Dots on a line from the first day to the last; more at once make a larger dot. */
export function occurrences({ days, from, to, summary, tall = false }: Occurrences): Html {
  const counts = [...Map.groupBy(days, (day) => day)].map(([day, all]) => ({ day, count: all.length }));
  counts.sort((a, b) => (a.day < b.day ? -1 : 1));
  const place = placer(from, to);
  const size = scaleSqrt([1, Math.max(2, ...counts.map(({ count }) => count))], [4, 8]);
  const middle = tall ? 18 : 12;
  const labels = counts.slice(-MAX_TOLD).map(({ day, count }) => dayText(day) + (count > 1 ? ` (${count})` : ""));
  const label = `${summary}: ${counts.length > labels.length ? "lately " : ""}${labels.join(", ")}`;
  return html`<svg role="img"${attributes({ class: tall ? "occurrences tall" : "occurrences", "aria-label": label })}>${months(from, to, tall, middle)}<line class="base" x1="0" x2="100%" y1="${middle}" y2="${middle}"/>${counts.map(
    ({ day, count }) =>
      html`<circle${attributes({ cx: `${place(day)}%`, cy: middle, r: Number(size(count).toFixed(1)), class: "fill-accent" })}><title>${dayText(day)}${count > 1 && `, ${plural(count, "time")}`}</title></circle>`,
  )}</svg>`;
}

/** From days to percent of the width; a little is left at the ends for the dots themselves. */
function placer(from: string, to: string): (day: string) => number {
  const [first, last] = [Date.parse(from), Date.parse(to)];
  const scale = scaleLinear([first, last > first ? last : first + DAY_MS], [2, 98]).clamp(true);
  return (day) => Number(scale(Date.parse(day)).toFixed(2));
}

/** Where months begin: short lines, on a tall one with their names; years instead where there are many. */
function months(from: string, to: string, tall: boolean, middle: number): Html {
  const place = placer(from, to);
  const starts = startsOf(from, to);
  const every = Math.max(1, Math.ceil(starts.length / MAX_MONTHS));
  return html`${starts.map((day, i) => {
    if ((starts.length - 1 - i) % every !== 0) return "";
    const x = `${place(day)}%`;
    const name = tall && html`<text text-anchor="middle"${attributes({ x, y: 48 })}>${dayText(day).slice(2)}</text>`;
    return html`<line class="month"${attributes({ x1: x, x2: x, y1: middle - 10, y2: middle + 10 })}/>${name}`;
  })}`;
}

function startsOf(from: string, to: string): string[] {
  const months = (day: string) => Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7)) - 1;
  const text = (month: number) =>
    `${String(Math.floor(month / 12)).padStart(4, "0")}-${String((month % 12) + 1).padStart(2, "0")}-01`;
  const [first, last] = [months(from) + 1, months(to)];
  const step = Math.max(1, Math.ceil((last - first + 1) / 60));
  const count = last < first ? 0 : Math.floor((last - first) / step) + 1;
  return Array.from({ length: count }, (_, i) => text(last - (count - 1 - i) * step));
}
