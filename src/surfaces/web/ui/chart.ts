import { attributes, type Html, html } from "../../../kit/html.ts";
import { type Chart, chartFrame, percent, slot, valueScale } from "./chart-frame.ts";

/** How much of a day's slot its bar fills. */
const FILLED = 0.72;

/** A bar per day, the series stacked. */
export function barChart(chart: Chart): Html {
  const { days, series } = chart;
  const sums = days.map(({ values }) => values.reduce((sum: number, value) => sum + (value ?? 0), 0));
  const scale = valueScale(Math.max(0, ...sums));
  const base = scale(0);
  const bars = days.map(({ values }, i) => {
    const { x, width } = slot(i, days.length);
    const box = { x: `${percent(x - (width * FILLED) / 2)}%`, width: `${percent(width * FILLED)}%` };
    let below = 0;
    return series.map(({ tone }, s) => {
      const value = Math.max(0, values[s] ?? 0);
      if (value === 0) return "";
      const from = below;
      below += value;
      // A value above zero is seen, however small.
      const height = Math.max(1.5, scale(from) - scale(below));
      return html`<rect${attributes({ ...box, y: percent(base - (base - scale(from)) - height), height: percent(height), class: `bar fill-${tone}` })}/>`;
    });
  });
  return chartFrame(chart, scale, bars);
}
