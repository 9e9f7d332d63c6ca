/**
 * Budgets: what a team, a repository, a person or a model is to spend in a week or a month, how much of it is used, and which
 * thresholds were reached.
 * Not here: what usage costs (spend); who hears of a threshold outside.
 */
export {
  BUDGET_STATES,
  type Budget,
  type BudgetStanding,
  budgetStandings,
  currentStandings,
  DEFAULT_THRESHOLDS,
  MAX_USD,
  removeBudget,
  setBudget,
} from "./budgets-of.ts";
export { budgetErasure } from "./erase.ts";
export { PERIODS, type Period, SCOPES } from "./rows.ts";
