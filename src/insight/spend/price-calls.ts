import type { Core } from "../../core.ts";
import type { Usage } from "../../formats/usage.ts";
import { dayNumber } from "../../kit/clock.ts";
import { contextTier } from "./context-tier.ts";
import { currentPrices } from "./current-prices.ts";
import { usdOf } from "./price-table.ts";
import { tokensIn } from "./record-usage.ts";

/** A model call, as far as it has a price. */
export interface PricedCall {
  readonly usage: Usage;
  readonly model: string | null;
  /** Milliseconds since the epoch: prices change. */
  readonly at: number;
}

/**
 * What each of some model calls costs at the prices of its day, in US dollars; null where no price is known. A call that is given twice is
 * priced twice.
 */
export function priceCalls(core: Core, calls: readonly PricedCall[]): (number | null)[] {
  const { table } = currentPrices(core);
  return calls.map(({ usage, model, at }) => {
    const cost = table.cost(model ?? "", dayNumber(at), contextTier(usage.context), tokensIn(usage));
    return cost === undefined ? null : usdOf(cost);
  });
}
