/**
 * Spend: what agents use of models, each usage counted once however often and wherever it is reported, and what that costs at
 * list prices or the data directory's own.
 * Not here: what was sent (telemetry, traces), what is to be spent at most (budgets).
 */
export { catchUpSpend, freshenSpend, requireSpend, spendProgress } from "./catch-up.ts";
export { currentPrices } from "./current-prices.ts";
export { spendErasure } from "./erase.ts";
export { type SpendFact, spendFacts } from "./facts.ts";
export { isSince, isUntil, readPeriod } from "./period.ts";
export { priceCalls } from "./price-calls.ts";
export { reprice } from "./price-sessions.ts";
export { spendEntriesProjection } from "./project-entries.ts";
export { spendSessionsProjection } from "./project-sessions.ts";
export {
  type SpendGroup,
  type SpendOfDay,
  type SpendReport,
  spendCsv,
  spendReport,
  spendReportInSlices,
} from "./report.ts";
export { spendVersion } from "./rollup.ts";
export { GROUPINGS, type Grouping } from "./rows.ts";
export type { SpendFigures } from "./sums.ts";
