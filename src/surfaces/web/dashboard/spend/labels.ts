import type { SpendFigures } from "../../../../insight/spend/spend.ts";
import { type Content, html } from "../../../../kit/html.ts";
import { lazy } from "../../../../kit/lazy.ts";
import { none } from "../../ui/parts.ts";
import { compact, number } from "../../ui/units.ts";

/** Money and tokens in words. What has no price is never shown as nothing. */

const cents = lazy(() => new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" }));
/** Below ten cents, where a cent more or less is much. */
const small = lazy(
  () => new Intl.NumberFormat("en-US", { style: "currency", currency: "USD", maximumSignificantDigits: 3 }),
);

/** An amount: to the cent, below ten of them to three digits. */
export const dollars = (usd: number): string => (usd === 0 || usd >= 0.1 ? cents() : small()).format(usd);

/** A value of an axis: without cents where there is no need of them. */
export const dollarTick = (usd: number): string =>
  Number.isInteger(usd) || usd >= 1_000 ? `$${compact(usd)}` : dollars(usd);

/** What some calls cost: at list prices, or else as their agent says, which is said. Null where neither is known. */
export function costText({ usd, reportedUsd }: Pick<SpendFigures, "usd" | "reportedUsd">): string | null {
  if (usd !== null) return dollars(usd);
  return reportedUsd === null ? null : `${dollars(reportedUsd)} reported by the agent`;
}

export const reportedText = ({ reportedUsd }: SpendFigures): Content =>
  reportedUsd === null ? none : dollars(reportedUsd);

/** A count of tokens, exact when pointed at. */
export const tokenCell = (count: number): Content =>
  count < 10_000 ? number(count) : html`<span title="${number(count)}">${compact(count)}</span>`;

/** The same in one line, for dense rows: `$1.20+` where some of it has no price. */
export function costCell({
  usd,
  unpricedTokens = 0,
  unpriced = 0,
}: {
  readonly usd: number | null;
  readonly unpricedTokens?: number;
  readonly unpriced?: number;
}): Content {
  const without = Math.max(unpricedTokens, unpriced);
  if (usd === null) return without > 0 ? html`<span class="muted">unpriced</span>` : none;
  return without === 0
    ? dollars(usd)
    : html`<span title="and ${number(without)} tokens without a price">${dollars(usd)}+</span>`;
}

/** How an amount changed since the period before, as `+12 %`, `new` where there was none; empty where nothing can be compared. */
export function changeText(usd: number | null, before: number | null): string {
  if (usd === null || usd === 0) return before === null || before === 0 ? "" : "−100 %";
  if (before === null || before === 0) return "new";
  const percent = Math.round((usd / before - 1) * 100);
  if (Math.abs(percent) >= 1_000) return `× ${compact(usd / before)}`;
  return percent === 0 ? "± 0 %" : `${percent > 0 ? "+" : "−"}${number(Math.abs(percent))} %`;
}
