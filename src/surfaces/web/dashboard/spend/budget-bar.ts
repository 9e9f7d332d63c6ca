import type { BudgetStanding } from "../../../../insight/budgets/budgets.ts";
import { attributes, type Html, html } from "../../../../kit/html.ts";
import { dollars } from "./labels.ts";

const TONES = { "on track": "good", "will exceed": "warn", exceeded: "bad", early: "accent" } as const;

/** A bar of what was spent of a budget, before a paler one of the forecast for its end; a line marks the amount where the bars go beyond it. */
export function budgetBar({ usedUsd, amountUsd, forecastUsd, state }: BudgetStanding): Html {
  const most = Math.max(amountUsd, usedUsd, forecastUsd ?? 0);
  const part = (usd: number) => `${Number(((usd / most) * 100).toFixed(2))}%`;
  const label = `${dollars(usedUsd)} of ${dollars(amountUsd)}`;
  const bar = (usd: number, name: string) =>
    html`<rect height="8" y="2" rx="2"${attributes({ width: part(usd), class: name })}/>`;
  return html`<svg class="budget" height="12" role="img" aria-label="${label}"><rect class="track" width="100%" height="8" y="2" rx="2"/>${forecastUsd !== null && bar(forecastUsd, `fill-${TONES[state]} ahead`)}${bar(usedUsd, `fill-${TONES[state]}`)}${most > amountUsd && html`<line class="limit" y1="0" y2="12"${attributes({ x1: part(amountUsd), x2: part(amountUsd) })}/>`}</svg>`;
}
