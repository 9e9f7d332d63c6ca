import type { Core } from "../../core.ts";
import { DAY_MS, dateOfDay, SECOND_MS } from "../../kit/clock.ts";
import { cooperative } from "../../kit/yield.ts";
import { listEvents, recordEvent, SYSTEM } from "../../platform/audit/audit.ts";
import type { Job } from "../../platform/jobs/jobs.ts";
import { notify } from "../../platform/notices/notices.ts";
import { readBudget } from "./budgets-of.ts";
import { type Measured, measure, measureEnded } from "./measure.ts";
import { type BudgetRow, rows } from "./rows.ts";

/** Finds thresholds that were reached: each once a period. */

/** A period that ended is checked for so long: its last usage arrives late, from machines that were offline or send now and then. */
const LATE_MS = DAY_MS;

interface Reached {
  readonly budget: BudgetRow;
  /** Percent. */
  readonly threshold: number;
  readonly measured: Measured;
  /** Whether the period is over. */
  readonly ended: boolean;
}

/** Row change: tells that a threshold was reached, in the transaction that keeps it. Whoever is to hear of it is told here. */
function reached(core: Core, { budget, threshold, measured: { span, usedNano }, ended }: Reached): void {
  const { id, teamId, scope, subject, period } = budget;
  const { amountUsd } = readBudget(core, budget);
  const days = { from: dateOfDay(span.first), to: dateOfDay(span.last) };
  recordEvent(core, SYSTEM, {
    action: "budget.reached",
    teamId,
    target: { kind: "budget", id },
    detail: { scope, subject, period, ...days, threshold, usedUsd: Math.round(usedNano / 1e7) / 100, amountUsd },
  });
  // A person is named on the page alone: what has left the server cannot be erased.
  const name = scope === "team" ? "The team's budget" : scope === "person" ? "A person's budget" : subject;
  notify(core, {
    type: "budget.reached",
    teamId,
    path: "/spend/budgets",
    data: { budget: name, percent: threshold, limit: amountUsd, currency: "USD", period, ...days, ended },
    ...(scope === "repo" ? { repoKey: subject } : {}),
  });
}

/** Looks at all budgets and records thresholds that were reached since, of a period that ended lately, too. */
export async function checkBudgets(core: Core): Promise<void> {
  const yieldNow = cooperative(core.clock);
  for (const budget of rows(core.store).all.all()) {
    await yieldNow();
    const measured = measure(core, budget);
    const began = measured.span.first * DAY_MS;
    if (core.clock.now() - began < LATE_MS && budget.createdAt < began)
      await recordReached(core, budget, measureEnded(core, budget), true);
    await recordReached(core, budget, measured, false);
  }
}

async function recordReached(core: Core, budget: BudgetRow, measured: Measured, ended: boolean): Promise<void> {
  const sql = rows(core.store);
  const { span, usedNano } = measured;
  const known = new Set(sql.crossings.all(budget.id, span.first).map(({ threshold }) => threshold));
  const amountNano = budget.amountCents * 1e7;
  const over = readBudget(core, budget).thresholds.filter(
    (threshold) => !known.has(threshold) && usedNano / amountNano >= threshold / 100,
  );
  if (over.length === 0) return;
  // A budget that was set since did not apply to the period that is over.
  const isTold = !ended || !(await wasSetSince(core, budget, (span.last + 1) * DAY_MS));
  await core.store.write(() => {
    // It may have been removed or changed meanwhile.
    const now = sql.byId.get(budget.id, budget.teamId);
    if (now?.amountCents !== budget.amountCents) return;
    for (const threshold of over) {
      const crossing = { budgetId: budget.id, day: span.first, threshold, at: core.clock.now(), usedNano };
      if (sql.cross.run(crossing).changes > 0 && isTold) reached(core, { budget, threshold, measured, ended });
    }
  });
}

/** Changes of a team's budgets within a day that are looked through: more than anybody makes. */
const MAX_SET = 1_000;

async function wasSetSince(core: Core, { id, teamId }: BudgetRow, at: number): Promise<boolean> {
  const { rows: events } = await listEvents(core, { teamId, action: "budget.set", from: at }, MAX_SET);
  return events.some(({ targetId }) => targetId === id);
}

export const checking: Job = { name: "budgets", everyMs: 15 * SECOND_MS, needsClock: true, run: checkBudgets };
