import type { SpendOfDay, SpendReport } from "../../../../insight/spend/spend.ts";
import { type Content, type Html, html } from "../../../../kit/html.ts";
import { table } from "../../ui/list.ts";
import { codeBlock, section } from "../../ui/parts.ts";
import { dayText, number, plural } from "../../ui/units.ts";
import { short } from "../shared/text.ts";
import { modelName } from "./chart.ts";

/** At what prices sums are made, and what has none. */

const SHOWN = 20;

export function pricesSection({ prices }: Pick<SpendReport, "prices">, days: readonly SpendOfDay[]): Html {
  const tokens = new Map<string, number>();
  for (const { model, unpricedTokens } of days)
    if (unpricedTokens > 0) tokens.set(model, (tokens.get(model) ?? 0) + unpricedTokens);
  const unpriced = [...tokens].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  return section({
    id: "prices",
    title: "Prices",
    body: html`<div class="stack">${problemFlash(prices.problem)}<p class="says">${
      prices.overridden
        ? html`Prices of ${dayText(prices.date)}, from <code>prices.json</code> in the data directory of this installation; models that it does not name cost what the list says that came with the program.`
        : html`List prices of ${dayText(prices.date)}, on demand, without discounts or batch terms. Whoever runs this installation can put other ones into <code>prices.json</code> in its data directory.`
    }</p>
${unpriced.length > 0 && unpricedList(unpriced, prices.date)}</div>`,
  });
}

/** What is wrong with the installation's own prices. */
const problemFlash = (problem: string | null): Content =>
  problem !== null &&
  html`<div class="flash warn"><p>The installation's own prices are not used as they stand: ${problem}.</p></div>`;

function unpricedList(unpriced: readonly (readonly [string, number])[], date: string): Html {
  const named = unpriced.find(([model]) => model !== "")?.[0];
  const sample =
    named !== undefined && JSON.stringify({ date, models: { [short(named, 200)]: { input: 3, output: 15 } } }, null, 2);
  return html`<p>The price of ${plural(unpriced.length, "model")} is not known. ${unpriced.length === 1 ? "Its" : "Their"} tokens are not in the cost:</p>
${table({
  caption: "Unpriced models",
  columns: [
    { label: "Model", heading: true, grow: true, cell: ([model]) => modelName(model) },
    { label: "Tokens", numeric: true, cell: ([, count]) => count },
  ],
  rows: unpriced.slice(0, SHOWN),
  narrow: "scroll",
})}
${unpriced.length > SHOWN && html`<p class="says">${number(unpriced.length - SHOWN)} more with fewer tokens.</p>`}
${sample && html`<p class="says">To give one its price, write what a million tokens cost into <code>prices.json</code> in the data directory, with your figures for these. It is read anew at once, and earlier days are priced too.</p>${codeBlock(sample, { label: "prices.json", titled: true })}`}`;
}
