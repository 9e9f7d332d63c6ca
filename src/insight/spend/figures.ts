import { listTeams } from "../../identity/teams/teams.ts";
import { DAY_MS, dayNumber } from "../../kit/clock.ts";
import { cooperative } from "../../kit/yield.ts";
import { figure, type Metric, survey } from "../../platform/metrics/metrics.ts";
import { spendReport } from "./report.ts";

/** What was spent today and this month (UTC) by all teams, summed day by day, so that nobody waits for a whole month. */
const spent = survey(async (core) => {
  const yieldNow = cooperative(core.clock);
  const now = new Date(core.clock.now());
  const first = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1);
  const today = dayNumber(now.getTime()) * DAY_MS;
  const sums = { today: { usd: 0, unpriced: 0 }, month: { usd: 0, unpriced: 0 } };
  for (const { id } of listTeams(core))
    for (let day = first; day <= today; day += DAY_MS) {
      const { usd, unpricedTokens } = spendReport(core, id, { from: day, to: day, by: "model" }).total;
      for (const sum of day === today ? [sums.today, sums.month] : [sums.month]) {
        sum.usd += usd ?? 0;
        sum.unpriced += unpricedTokens;
      }
      await yieldNow();
    }
  return sums;
});

const PERIODS = ["today", "month"] as const;

export const spendMetrics: readonly Metric[] = [
  figure(
    "gauge",
    "reckon_spend_usd",
    "What all teams spent at list prices, today and this month (UTC), in dollars.",
    async (core) => {
      const sums = await spent(core);
      return PERIODS.map((period) => [{ period }, sums[period].usd] as const);
    },
  ),
  figure(
    "gauge",
    "reckon_spend_unpriced_tokens",
    "Tokens of models without a price, which are not in it.",
    async (core) => {
      const sums = await spent(core);
      return PERIODS.map((period) => [{ period }, sums[period].unpriced] as const);
    },
  ),
];
