import type { Core } from "../../core.ts";
import { DAY_MS, dayNumber } from "../../kit/clock.ts";
import { factRows, type SessionFact } from "./fact-rows.ts";
import { NO_START } from "./rows.ts";

/** The first day from one on, in days since the epoch, on which sessions of a team began. */
function nextDay(core: Core, teamId: string, from: number): number | undefined {
  const at = factRows(core.store).nextStart.get(teamId, startOf(from));
  return at === undefined || at === null ? undefined : dayNumber(at);
}

/** Those of nobody knows when come first. */
const startOf = (day: number) => Math.max(NO_START, day * DAY_MS);

/**
 * Sessions that began on some days, in an order that stays. They are as fresh as the projections of sessions and spend.
 * @param days the first and the last, in days since the epoch
 * @param after the last of those that were read before
 */
function page(
  core: Core,
  teamId: string,
  { first, last }: { readonly first: number; readonly last: number },
  after: SessionFact | undefined,
  count: number,
): SessionFact[] {
  const { startedAt = startOf(first), number = 0 } = after ?? {};
  const before = Math.min(Number.MAX_SAFE_INTEGER, (last + 1) * DAY_MS);
  return factRows(core.store).page.all({ teamId, startedAt, number, before, count });
}

/** Sessions as rows for others to sum: their sums are those of lists. */
export const sessionFacts = { nextDay, page };
