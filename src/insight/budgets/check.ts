import type { Core } from "../../core.ts";
import { SECOND_MS } from "../../kit/clock.ts";
import { cooperative } from "../../kit/yield.ts";
import { recordEvent, SYSTEM } from "../../platform/audit/audit.ts";
import type { Job } from "../../platform/jobs/jobs.ts";
import { notify } from "../../platform/notices/notices.ts";
import { readBudget } from "./budgets-of.ts";
import { measure } from "./measure.ts";
import { type BudgetRow, rows } from "./rows.ts";

/** Finds thresholds that were reached: each once a period. */

interface Reached {
  readonly budget: BudgetRow;
  /** Percent. */
  readonly threshold: number;
  readonly usedUsd: number;
}

/** Row change: tells that a threshold was reached, in the transaction that keeps it. Whoever is to hear of it is told here. */
function reached(core: Core, { budget, threshold, usedUsd }: Reached): void {
  const { id, teamId, scope, subject, period } = budget;
  const { amountUsd } = readBudget(budget);
  recordEvent(core, SYSTEM, {
    action: "budget.reached",
    teamId,
    target: { kind: "budget", id },
    detail: { scope, subject, period, threshold, usedUsd: Math.round(usedUsd * 100) / 100, amountUsd },
  });
  // Who a person is, the page tells: what has left the server cannot be erased.
  const name = scope === "team" ? "The team's budget" : scope === "person" ? "A person's budget" : subject;
  notify(core, {
    type: "budget.reached",
    teamId,
    path: "/spend/budgets",
    data: { budget: name, percent: threshold, limit: amountUsd, currency: "USD" },
    ...(scope === "repo" && subject !== null ? { repoKey: subject } : {}),
  });
}

/** Looks at all budgets and records thresholds that were reached since. */
export async function checkBudgets(core: Core): Promise<void> {
  const sql = rows(core.store);
  const yieldNow = cooperative(core.clock);
  for (const budget of sql.all.all()) {
    await yieldNow();
    const { span, usedNano } = measure(core, budget);
    const known = new Set(sql.crossings.all(budget.id, span.first).map(({ threshold }) => threshold));
    const amountNano = budget.amountCents * 1e7;
    const over = readBudget(budget).thresholds.filter(
      (threshold) => !known.has(threshold) && usedNano / amountNano >= threshold / 100,
    );
    if (over.length === 0) continue;
    await core.store.write(() => {
      // It may have been removed or changed meanwhile.
      const now = sql.byId.get(budget.id, budget.teamId);
      if (now?.amountCents !== budget.amountCents) return;
      for (const threshold of over) {
        const crossing = { budgetId: budget.id, day: span.first, threshold, at: core.clock.now(), usedNano };
        if (sql.cross.run(crossing).changes > 0) reached(core, { budget, threshold, usedUsd: usedNano / 1e9 });
      }
    });
  }
}

export const checking: Job = { name: "budgets", everyMs: 15 * SECOND_MS, run: checkBudgets };
