import { type Core, slot } from "../../core.ts";
import { sourcesOf } from "../../identity/ownership/ownership.ts";
import { DAY_MS, dayNumber } from "../../kit/clock.ts";
import { spendReport, spendVersion } from "../spend/spend.ts";
import { HISTORY_DAYS, type Span, spanAt } from "./forecast.ts";
import type { BudgetRow } from "./rows.ts";

/** What was spent of a budget, day by day. */
export interface Measured {
  readonly span: Span;
  /** Dollars by day since the epoch, from four weeks before the period on. */
  readonly byDay: ReadonlyMap<number, number>;
  /** Billionths of a dollar in the period. */
  readonly usedNano: number;
  /** Tokens without a price in the period: they are in no sum. */
  readonly unpricedTokens: number;
}

/** What was measured, by budget and how many periods ago. Valid as long as nothing was counted since and prices are the same. */
const known = slot(() => new Map<string, { readonly version: string; readonly measured: Measured }>());

const NANO = 1e9;

/** What is known already; undefined where something was counted since. */
function stillKnown(core: Core, name: string, version: string): Measured | undefined {
  const found = known(core).get(name);
  return found?.version === version ? found.measured : undefined;
}

/** The period of now. @param stale whether what was known a while ago will do */
export const measure = (core: Core, budget: BudgetRow, stale = false): Measured =>
  measureUntil(core, budget, core.clock.now(), budget.id, stale);

/** The period that ended before the one of now. */
export const measureEnded = (core: Core, budget: BudgetRow): Measured =>
  measureUntil(core, budget, spanAt(budget.period, core.clock.now()).first * DAY_MS - 1, `${budget.id} ended`);

/** @param name the key under which the result is kept */
function measureUntil(core: Core, budget: BudgetRow, now: number, name: string, stale = false): Measured {
  const { teamId, scope, subject, period } = budget;
  const span = spanAt(period, now);
  const sources = scope === "person" ? sourcesOf(core, teamId, subject) : undefined;
  const version = JSON.stringify([spendVersion(core), span.first, dayNumber(now), sources]);
  const before = known(core).get(name);
  const found =
    stillKnown(core, name, version) ??
    (stale && before?.measured.span.first === span.first ? before.measured : undefined);
  if (found) return found;
  const report = spendReport(core, teamId, {
    from: (span.first - HISTORY_DAYS) * DAY_MS,
    to: now,
    by: "model",
    daily: true,
    repoKey: scope === "repo" ? subject : undefined,
    sources,
  });
  const byDay = new Map<number, number>();
  let [usedNano, unpricedTokens] = [0, 0];
  for (const one of report.byDayAndModel()) {
    if (scope === "model" && one.model !== subject) continue;
    const day = Date.parse(one.day) / DAY_MS;
    byDay.set(day, (byDay.get(day) ?? 0) + (one.usd ?? 0));
    if (day < span.first) continue;
    // Each is exact to a trillionth: whole billionths do not drift however many are added.
    usedNano += Math.round((one.usd ?? 0) * NANO);
    unpricedTokens += one.unpricedTokens;
  }
  const measured = { span, byDay, usedNano, unpricedTokens };
  known(core).set(name, { version, measured });
  return measured;
}
