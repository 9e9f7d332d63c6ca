import type { Core } from "../../core.ts";
import { currentPrices } from "./current-prices.ts";
import { type FactRow, factRows } from "./fact-rows.ts";

/** What was used on a day, of one combination of all that is asked for by, and what that costs. */
export interface SpendFact extends FactRow {
  /** Trillionths of a dollar at list prices; null where nothing of it has a price. */
  readonly pico: bigint | null;
  /** Tokens of all kinds that have no price. */
  readonly unpriced: number;
}

/** The first day from one on, in days since the epoch, on which a team used something. */
const nextDay = (core: Core, teamId: string, from: number): number | undefined =>
  factRows(core.store).nextDay.get(teamId, from) ?? undefined;

/**
 * Cells of some days, in a fixed order. They are as fresh as the projections of spend.
 * @param days the first and the last, in days since the epoch
 * @param after the last cell that was read before
 */
function page(
  core: Core,
  teamId: string,
  { first, last }: { readonly first: number; readonly last: number },
  after: SpendFact | undefined,
  count: number,
): SpendFact[] {
  const { table } = currentPrices(core);
  const {
    day = first,
    repoKey = "",
    branch = "",
    model = "",
    deviceId = "",
    session = "",
    context = -1,
    otlp = 0,
  } = after ?? {};
  const place = { day, repoKey, branch, model, deviceId, session, context, otlp };
  return factRows(core.store)
    .page.all({ teamId, last, ...place, count })
    .map((row) => {
      const used = row.input + row.output + row.cacheWrite + row.cacheWrite1h + row.cacheRead;
      const cost = table.cost(row.model || row.sessionModel, row.day, row.context, row);
      return { ...row, pico: cost === undefined || used === 0 ? null : cost, unpriced: cost === undefined ? used : 0 };
    });
}

/** Changes with any price. */
const prices = (core: Core): string => currentPrices(core).table.version;

/** Spend as rows for others to sum: their sums are those of reports. */
export const spendFacts = { nextDay, page, prices };
