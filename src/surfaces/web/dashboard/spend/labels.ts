import type { SpendFigures } from "../../../../insight/spend/spend.ts";
import { type Content, html } from "../../../../kit/html.ts";
import { compact, number } from "../../ui/units.ts";

/** Money and tokens in words. What has no price is never shown as nothing. */

const DOLLARS = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" });
/** Below ten cents, where a cent more or less is much. */
const SMALL = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD", maximumSignificantDigits: 3 });

/** An amount: to the cent, below ten of them to three digits. */
export const dollars = (usd: number): string => (usd === 0 || usd >= 0.1 ? DOLLARS : SMALL).format(usd);

/** A value of an axis: without cents where there is no need of them. */
export const dollarTick = (usd: number): string =>
  usd === 0 || usd >= 1_000 ? `$${compact(usd)}` : `$${Number(usd.toPrecision(3))}`;

/** What figures cost, or that nobody knows; never 0 for what has no price. */
export function costText({ usd, unpricedTokens }: SpendFigures): Content {
  if (usd === null)
    return unpricedTokens > 0 ? html`<span class="muted">unpriced</span>` : html`<span class="none">–</span>`;
  return html`${dollars(usd)}${unpricedTokens > 0 && html`<br><small class="muted nowrap">and ${compact(unpricedTokens)} unpriced</small>`}`;
}

export const reportedText = ({ reportedUsd }: SpendFigures): Content =>
  reportedUsd === null ? html`<span class="none">–</span>` : dollars(reportedUsd);

export const tokensOf = (one: SpendFigures): number =>
  one.inputTokens + one.outputTokens + one.cacheWriteTokens + one.cacheReadTokens;

/** A count of tokens, exact when pointed at. */
export const tokenCell = (count: number): Content =>
  count < 10_000 ? number(count) : html`<span title="${number(count)}">${compact(count)}</span>`;
