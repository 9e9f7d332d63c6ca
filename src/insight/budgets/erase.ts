import type { Core } from "../../core.ts";
import { MAX_ERASED_ROWS } from "../../kit/erase-steps.ts";
import { rows, type Scope } from "./rows.ts";

/**
 * Row change: removes budgets of a person or a repository, with what was reached of them.
 * @param teamIds whose; all without it
 * @returns how many went
 */
function eraseBudgets(core: Core, scope: Scope, subject: string, teamIds: readonly string[] | null = null): number {
  const sql = rows(core.store);
  const teams = teamIds && JSON.stringify(teamIds);
  const ids = sql.ofSubject.all({ scope, subject, teams, limit: MAX_ERASED_ROWS });
  for (const id of ids) {
    sql.uncross.run(id);
    sql.remove.run(id);
  }
  return ids.length;
}

/** Row change: replaces who set budgets. */
const renameMaker = (core: Core, from: string, to: string): number =>
  rows(core.store).renameMaker.run(to, from, MAX_ERASED_ROWS).changes;

/** Erasing budgets. */
export const budgetErasure = { eraseBudgets, renameMaker };
