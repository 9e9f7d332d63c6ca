import { scaleLinear } from "d3-scale";
import { area, line } from "d3-shape";
import { attributes, type Html, html } from "../../../kit/html.ts";
import { type Chart, chartFrame, PLOT, percent, slot, type Tone, valueScale } from "./chart-frame.ts";

/** How much of a day's slot its bars fill. */
const FILLED = 0.72;
/** The inner coordinates of lines, stretched to the width there is; strokes keep their weight. */
const ACROSS = 1_000;

/**
 * Bars per day.
 * @param grouped beside one another instead of stacked
 */
export function barChart(chart: Chart & { readonly grouped?: boolean | undefined }): Html {
  const { days, series, grouped } = chart;
  const highest = Math.max(
    0,
    ...days.map(({ values }) => {
      const known = values.map((value) => value ?? 0);
      return grouped ? Math.max(0, ...known) : known.reduce((sum, value) => sum + value, 0);
    }),
  );
  const scale = valueScale(highest);
  const base = scale(0);
  const bars = days.map(({ values }, i) => {
    const { x, width } = slot(i, days.length);
    const each = (width * FILLED) / (grouped ? series.length : 1);
    let below = 0;
    return series.map(({ tone }, s) => {
      const value = Math.max(0, values[s] ?? 0);
      if (value === 0) return "";
      const from = grouped ? 0 : below;
      below += value;
      // A value above zero is seen, however small.
      const height = Math.max(1.5, scale(from) - scale(from + value));
      const left = x - (width * FILLED) / 2 + (grouped ? s * each : 0);
      const box = { x: `${percent(left)}%`, width: `${percent(each)}%` };
      return html`<rect${attributes({ ...box, y: percent(base - (base - scale(from)) - height), height: percent(height), class: `bar fill-${tone}` })}/>`;
    });
  });
  return chartFrame(chart, scale, bars);
}

/** Lines over days or weeks. A value that is not known leaves a gap. */
export function lineChart(chart: Chart): Html {
  return drawnLines(chart, false);
}

/** Lines with the area below them filled; for one series. */
export function areaChart(chart: Chart): Html {
  return drawnLines(chart, true);
}

function drawnLines(chart: Chart, filled: boolean): Html {
  const { days, series } = chart;
  const scale = valueScale(Math.max(0, ...days.flatMap(({ values }) => values.map((value) => value ?? 0))));
  const across = (i: number) => slot(i, days.length).x * (ACROSS / 100);
  const known = (value: number | null) => value !== null;
  const paths = series.map(({ tone }, s) => {
    const values = days.map((day) => day.values[s] ?? null);
    const x = (_: unknown, i: number) => across(i);
    const y = (value: number | null) => scale(value ?? 0);
    const stroke = line<number | null>().defined(known).x(x).y(y)(values);
    const below = filled && area<number | null>().defined(known).x(x).y0(scale(0)).y1(y)(values);
    return html`${below && html`<path${attributes({ d: below, class: `area fill-${tone}` })}/>`}${stroke && html`<path${attributes({ d: stroke, class: `line stroke-${tone}` })}/>`}`;
  });
  const dots = series.map(({ tone }, s) =>
    days.map(({ values }, i) => {
      const value = values[s] ?? null;
      // On long lines only points without neighbours are marked: a line cannot show them.
      const alone = (values: Chart["days"][number] | undefined) => (values?.values[s] ?? null) === null;
      if (value === null || (days.length > 16 && !(alone(days[i - 1]) && alone(days[i + 1])))) return "";
      return html`<circle${attributes({ cx: `${slot(i, days.length).x}%`, cy: percent(scale(value)), r: 3, class: `dot fill-${tone}` })}/>`;
    }),
  );
  const inner = html`<svg${attributes({ width: "100%", height: PLOT + 40, viewBox: `0 0 ${ACROSS} ${PLOT + 40}`, preserveAspectRatio: "none", "aria-hidden": "true" })}>${paths}</svg>`;
  return chartFrame(chart, scale, [inner, dots]);
}

/**
 * A trend of the size of a word, without axes.
 * @param says what it shows, in words
 */
export function sparkline({
  values,
  says,
  tone = "accent",
}: {
  values: readonly number[];
  says: string;
  tone?: Tone;
}): Html {
  if (values.length === 0) return html`<span class="none">${says}</span>`;
  const x = scaleLinear([0, Math.max(1, values.length - 1)], [2, 94]);
  const y = scaleLinear([0, Math.max(1, ...values)], [22, 3]);
  const drawn = line<number>()
    .x((_, i) => percent(x(i)))
    .y((value) => percent(y(value)))(values.length === 1 ? [...values, ...values] : [...values]);
  const last = values.at(-1) as number;
  return html`<svg class="sparkline" width="96" height="26" viewBox="0 0 96 26" role="img"${attributes({ "aria-label": says })}><title>${says}</title><path${attributes({ d: drawn, class: `line stroke-${tone}` })}/><circle${attributes({ cx: percent(x(Math.max(1, values.length - 1))), cy: percent(y(last)), r: 2.5, class: `fill-${tone}` })}/></svg>`;
}
