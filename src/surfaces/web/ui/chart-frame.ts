import { type ScaleLinear, scaleLinear } from "d3-scale";
import { attributes, type Content, type Html, html } from "../../../kit/html.ts";
import { table } from "./list.ts";
import { anchor, type Kind } from "./parts.ts";
import { compact, number, plural } from "./units.ts";

/**
 * Colours of series that mean nothing but "another one": they differ in hue and, one from the next, in lightness. Beyond the
 * last, things are summed up as the neutral rest.
 */
export const HUES = ["hue-1", "hue-2", "hue-3", "hue-4", "hue-5", "hue-6"] as const;

/** The colour of a series, a class of the style sheet. */
export type Tone = Kind | "accent" | (typeof HUES)[number];

/** One of the things measured. */
export interface Series {
  readonly name: string;
  readonly tone: Tone;
}

/** A day or a week. */
export interface Point {
  /** On the axis, short: `21 Nov`. */
  readonly label: string;
  /** The exact one, for the table of numbers: `2026-11-21`. */
  readonly iso: string;
  /** In the order of the series; null where nothing is known. */
  readonly values: readonly (number | null)[];
  /** Where a click on it leads: to what happened on that day. */
  readonly href?: string | undefined;
}

/** What every chart is told. */
export interface Chart {
  readonly title: string;
  /** What the chart says, in a sentence; read out in its place. */
  readonly summary: string;
  readonly days: readonly Point[];
  readonly series: readonly Series[];
  /** What is counted: `session` and `sessions`. */
  readonly unit: readonly [one: string, many: string];
  /** Spells a value; a number with its unit by default. */
  readonly spell?: ((value: number) => string) | undefined;
  /** Spells a value of the axis, for values whose unit must stand there: `$5`. */
  readonly tick?: ((value: number) => string) | undefined;
  /** The head of the first column of the numbers, `Day` by default. */
  readonly period?: string | undefined;
}

/** Heights in pixels. The width is the container's: everything across is in percent, so text keeps its size. */
const PLOT = 168;
const TOP = 10;
const FOOT = 24;
const MAX_LABELS = 5;
/** Of the values beside the plot: what they have at least, between them and the plot, and for each character. */
const MIN_SIDE = 44;
const GAP = 8;
const WIDEST_CHAR = 7;

/** From values to pixels from the top, beginning at 0 and ending at a round value; 0 to 1 when there is nothing above 0. */
export function valueScale(highest: number): ScaleLinear<number, number> {
  return scaleLinear([0, highest > 0 ? highest : 1], [TOP + PLOT, TOP]).nice(4);
}

/** The middle of slot i of n, and its width, in percent. */
export function slot(i: number, n: number): { readonly x: number; readonly width: number } {
  return { x: percent(((i + 0.5) / n) * 100), width: percent(100 / n) };
}

export const percent = (value: number) => Number(value.toFixed(3));

const speller = ({ spell, unit }: Chart) => spell ?? ((value: number) => plural(value, ...unit));

/**
 * A chart's frame: title, legend, axes, and the same numbers as a table.
 * @param drawn the marks, to be laid over the gridlines
 */
export function chartFrame(chart: Chart, scale: ScaleLinear<number, number>, drawn: Content): Html {
  const { title, summary, days, series } = chart;
  if (days.length === 0) return html`<p class="says">${title}: no data yet.</p>`;
  const whole = days.every(({ values }) => values.every((value) => Number.isInteger(value ?? 0)));
  // Only whole numbers for whole things: nobody has half a session.
  const ticks = scale.ticks(4).filter((tick) => !whole || Number.isInteger(tick));
  const labels = ticks.map((tick) => (chart.tick ?? compact)(tick));
  const side = Math.max(MIN_SIDE, GAP + WIDEST_CHAR * Math.max(...labels.map(({ length }) => length)));
  const id = `chart-${title.toLowerCase().replace(/[^a-z0-9]+/g, "-")}`;
  return html`<figure class="chart"><figcaption><span class="chart-title">${title}</span>${series.length > 1 && legend(series)}</figcaption>
<div class="chart-body"><svg class="chart-axis" width="${side}" height="${TOP + PLOT + FOOT}" aria-hidden="true">${ticks.map((tick, i) => html`<text x="${side - GAP}" y="${scale(tick)}" dy="4">${labels[i]}</text>`)}</svg>
<div class="chart-area"><svg class="chart-plot" height="${TOP + PLOT + FOOT}" role="img" aria-labelledby="${id}-t ${id}-d"><title id="${id}-t">${title}</title><desc id="${id}-d">${summary}</desc>
${ticks.map((tick) => html`<line class="grid" x1="0" x2="100%"${attributes({ y1: scale(tick), y2: scale(tick) })}/>`)}${drawn}${axis(days)}</svg>
<svg class="chart-hits" height="${TOP + PLOT}" aria-hidden="true">${hits(chart)}</svg></div></div>
<details class="numbers"><summary>Show the numbers</summary>${numbers(chart)}</details></figure>`;
}

function legend(series: readonly Series[]): Html {
  return html`<ul class="legend">${series.map(({ name, tone }) => html`<li><svg width="10" height="10" aria-hidden="true"><rect width="10" height="10" rx="2" class="fill-${tone}"/></svg>${name}</li>`)}</ul>`;
}

/** Labels are centred under their slot; the outermost may reach into the padding of the frame. */
function axis(days: readonly Point[]): Html {
  const every = Math.ceil(days.length / MAX_LABELS);
  // Counted from the end, so that the newest is always named.
  return html`${days.map(
    ({ label }, i) =>
      (days.length - 1 - i) % every === 0 &&
      html`<text class="tick" x="${slot(i, days.length).x}%" y="${TOP + PLOT + 17}" text-anchor="middle">${label}</text>`,
  )}`;
}

/** Areas over each day that name it and its values when pointed at, in an image of their own: no link may stand within the plot's. */
function hits(chart: Chart): Html {
  const spell = speller(chart);
  return html`${chart.days.map(({ label, values, href }, i) => {
    const { x, width } = slot(i, chart.days.length);
    // What is not known says nothing beside what is.
    const known = chart.series.map((_, s) => s).filter((s) => (values[s] ?? null) !== null);
    const words = known.map((s) => {
      const said = spell(values[s] as number);
      return chart.series.length > 1 ? `${chart.series[s]?.name}: ${said}` : said;
    });
    if (words.length === 0) words.push("–");
    const area = html`<rect class="hit" x="${percent(x - width / 2)}%" width="${width}%" y="0" height="${TOP + PLOT}"><title>${label}\n${words.join("\n")}</title></rect>`;
    // For the pointer only: a plot is one image to those who cannot see it, and the table of numbers has the same links.
    return href === undefined ? area : html`<a tabindex="-1"${attributes({ href })}>${area}</a>`;
  })}`;
}

function numbers(chart: Chart): Html {
  const spell = chart.spell ?? number;
  return table({
    caption: `${chart.title}, in ${chart.unit[1]}`,
    columns: [
      {
        label: chart.period ?? "Day",
        heading: true,
        cell: ({ iso, href }) => (href === undefined ? iso : anchor(href, iso)),
      },
      ...chart.series.map(({ name }, i) => ({
        label: name,
        numeric: true,
        cell: ({ values }: Point) => (typeof values[i] === "number" ? spell(values[i]) : "–"),
      })),
    ],
    rows: chart.days,
    narrow: "scroll",
  });
}
