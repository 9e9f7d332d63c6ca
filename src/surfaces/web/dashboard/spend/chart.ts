import type { SpendFigures, SpendOfDay } from "../../../../insight/spend/spend.ts";
import { DAY_MS, dateOfDay, dayNumber } from "../../../../kit/clock.ts";
import { type Content, html } from "../../../../kit/html.ts";
import { barChart } from "../../ui/chart.ts";
import { HUES, type Series } from "../../ui/chart-frame.ts";
import { compact, plural, shortDay } from "../../ui/units.ts";
import type { Member } from "../shared/call.ts";
import { short } from "../shared/text.ts";
import { dollars, dollarTick } from "./labels.ts";
import { type Params, spendAddress } from "./params.ts";

/** Spend over time: dollars by model, and beside them the tokens that have no price. */

/** More bars than this cannot be told apart; several days make one then. */
const MAX_BARS = 100;
const OTHERS = "other models";
const MAX_NAME = 48;

interface Stretch {
  readonly label: string;
  /** Its first day, and its last. */
  readonly iso: string;
  readonly last: string;
  /** By model. */
  readonly usd: ReadonlyMap<string, number>;
}

/** How many days make a bar: one, a week, or as many as it takes. */
function daysOfBar({ from, to }: Params): number {
  const days = dayNumber(to) - dayNumber(from) + 1;
  if (days <= MAX_BARS) return 1;
  return days <= 7 * MAX_BARS ? 7 : Math.ceil(days / MAX_BARS);
}

/** All days that were asked for, also those without data; the last bar ends on the last day. */
function stretches(params: Params, days: readonly SpendOfDay[], each: number): Stretch[] {
  const first = dayNumber(params.from);
  const last = dayNumber(params.to);
  const count = Math.ceil((last - first + 1) / each);
  const all = Array.from({ length: count }, (_, i) => {
    const begin = Math.max(first, last - (count - i) * each + 1);
    const end = last - (count - i - 1) * each;
    const iso = dateOfDay(begin);
    return {
      iso,
      last: dateOfDay(end),
      label: shortDay(iso),
      usd: new Map<string, number>(),
    };
  });
  for (const { day, model, usd } of days) {
    const at = all[count - 1 - Math.floor((last - Date.parse(day) / DAY_MS) / each)];
    if (!at) continue;
    if (usd !== null) at.usd.set(model, (at.usd.get(model) ?? 0) + usd);
  }
  return all;
}

export function spendCharts(call: Member, params: Params, days: readonly SpendOfDay[], total: SpendFigures): Content {
  const each = daysOfBar(params);
  const bars = stretches(params, days, each);
  const per = each === 1 ? "day" : each === 7 ? "week" : `${each} days`;
  const period = each === 1 ? "Day" : "From";
  const hrefOf = ({ iso, last }: Stretch) =>
    spendAddress(call, params, { by: "session", days: undefined, first: iso, last });
  return html`${total.usd !== null && costChart(bars, per, period, total.usd, hrefOf)}${total.unpricedTokens > 0 && unpricedLine(days, total.unpricedTokens)}`;
}

function costChart(
  bars: readonly Stretch[],
  per: string,
  period: string,
  total: number,
  hrefOf: (bar: Stretch) => string,
): Content {
  const sums = new Map<string, number>();
  for (const { usd } of bars) for (const [model, cost] of usd) sums.set(model, (sums.get(model) ?? 0) + cost);
  const models = [...sums].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).map(([model]) => model);
  const named = models.slice(0, HUES.length);
  const rest = models.slice(HUES.length);
  const series: Series[] = named.map((model, i) => ({
    name: modelName(model),
    tone: HUES[i] as (typeof HUES)[number],
  }));
  if (rest.length > 0) series.push({ name: `${OTHERS} (${rest.length})`, tone: "neutral" });
  const dearest = models[0] ?? "";
  return barChart({
    title: `Cost per ${per}`,
    summary: `${dollars(total)} in all, most of it, ${dollars(sums.get(dearest) ?? 0)}, for ${modelName(dearest)}; ${plural(models.length, "model")}.`,
    ...{ series, period, unit: ["US dollar", "US dollars"], spell: dollars, tick: dollarTick },
    days: bars.map((bar) => {
      const { label, iso, usd } = bar;
      const values = named.map((model) => usd.get(model) ?? null);
      const others = rest.reduce((sum, model) => sum + (usd.get(model) ?? 0), 0);
      return {
        label,
        iso,
        values: rest.length > 0 ? [...values, others > 0 ? others : null] : values,
        href: hrefOf(bar),
      };
    }),
  });
}

/** Tokens without a price: apart, in a line, as they are in none of the bars. */
function unpricedLine(days: readonly SpendOfDay[], total: number): Content {
  const models = new Set(days.filter(({ unpricedTokens }) => unpricedTokens > 0).map(({ model }) => model));
  return html`<p class="says">Unpriced: <strong>${compact(total)} tokens</strong> of ${plural(models.size, "model")}, neither in the chart nor in the cost. <a href="#prices">Give them a price</a></p>`;
}

/** How a model is called. */
export const modelName = (model: string): string => (model === "" ? "no model named" : short(model, MAX_NAME));
