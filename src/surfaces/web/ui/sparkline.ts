import { attributes, type Html, html } from "../../../kit/html.ts";

/** The box that the line is drawn in; the style sheet stretches it to its place. */
const WIDTH = 100;
const HEIGHT = 24;
/** Room for half the stroke above and below. */
const EDGE = 1.5;

/**
 * The course of a figure as a small line without axes, beside the figure itself.
 * @param values oldest first, on a scale that begins at 0; null where nothing is known, which leaves a gap
 * @param label what it shows, read out in its place: `Sessions a day: 3 to 14, 9 today`
 */
export function sparkline(values: readonly (number | null)[], label: string): Html {
  const highest = Math.max(1e-9, ...values.map((value) => value ?? 0));
  const step = WIDTH / Math.max(1, values.length - 1);
  let pen = "M";
  const path = values.map((value, i) => {
    if (value === null) {
      pen = "M";
      return "";
    }
    const y = HEIGHT - EDGE - (Math.max(0, value) / highest) * (HEIGHT - 2 * EDGE);
    const point = `${pen}${(i * step).toFixed(1)} ${y.toFixed(1)}`;
    pen = "L";
    return point;
  });
  return html`<svg class="spark" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img"${attributes({ "aria-label": label })}><path class="trace fill-accent" d="${path.join("")}"/></svg>`;
}
