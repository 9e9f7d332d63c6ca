/**
 * Spend: what agents use of models, each usage counted once however often and wherever it is told, and what that costs at
 * list prices or the data directory's own.
 * Not here: what was sent (telemetry, traces), quotas and budgets.
 */
export { spendCsv } from "./csv.ts";
export { currentPrices } from "./current-prices.ts";
export {
  catchUpSpend,
  freshenSpend,
  spendEntriesProjection,
  spendProgress,
  spendSessionsProjection,
} from "./follow.ts";
export { isSince, isUntil, readSpan } from "./period.ts";
export {
  type SpendFigures,
  type SpendGroup,
  type SpendOfDay,
  type SpendReport,
  spendReport,
} from "./report.ts";
export { GROUPINGS, type Grouping } from "./rows.ts";
