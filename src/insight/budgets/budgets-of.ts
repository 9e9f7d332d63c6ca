import type { Core } from "../../core.ts";
import { roleIn } from "../../identity/members/members.ts";
import { makers } from "../../identity/people/people.ts";
import { dateOfDay } from "../../kit/clock.ts";
import { newId } from "../../kit/ids.ts";
import { fail, invalid, notFound, problem } from "../../kit/problem.ts";
import { cooperative } from "../../kit/yield.ts";
import { type Actor, recordEvent } from "../../platform/audit/audit.ts";
import { forecast } from "./forecast.ts";
import { measure } from "./measure.ts";
import { type BudgetRow, type Period, rows, type Scope } from "./rows.ts";

/** Budgets of a team, and where each stands. */

export const DEFAULT_THRESHOLDS: readonly number[] = [80, 100];
/** Percent, each. */
const MAX_THRESHOLD = 1_000;
const MAX_THRESHOLDS = 5;
export const MAX_USD = 10_000_000;
const MAX_BUDGETS = 100;
const MAX_SUBJECT = 1_024;

const tooManyBudgets = problem({
  name: "tooManyBudgets",
  status: 409,
  code: "too_many_budgets",
  message: `A team has ${MAX_BUDGETS} budgets at most. Remove one first.`,
});

export interface Budget extends Omit<BudgetRow, "thresholds" | "amountCents"> {
  readonly amountUsd: number;
  /** Percent, ascending. */
  readonly thresholds: readonly number[];
}

/** `early`: too little of the period has gone by to say. */
export const BUDGET_STATES = ["on track", "will exceed", "exceeded", "early"] as const;
type BudgetState = (typeof BUDGET_STATES)[number];

/** A budget with where it stands in the period of now. */
export interface BudgetStanding extends Budget {
  /** The period's first and last day, as `2026-11-01`. */
  readonly from: string;
  readonly to: string;
  readonly usedUsd: number;
  /** Tokens without a price, which are not in it. */
  readonly unpricedTokens: number;
  /** Dollars at the period's end; null while it is too early to say. */
  readonly forecastUsd: number | null;
  /** The day on which it is expected to be used up; null where it is not in this period, or is already. */
  readonly exceedsOn: string | null;
  readonly state: BudgetState;
  /** Thresholds that were reached in this period, percent. */
  readonly reached: readonly number[];
}

export const readBudget = (core: Core, { amountCents, thresholds, ...row }: BudgetRow): Budget => ({
  ...row,
  createdBy: makers.called(core, row.createdBy),
  amountUsd: amountCents / 100,
  thresholds: JSON.parse(thresholds) as number[],
});

/** Where a budget stands. @param stale whether what was known a while ago will do */
function standingOf(core: Core, row: BudgetRow, stale: boolean): BudgetStanding {
  const { span, byDay, usedNano, unpricedTokens } = measure(core, row, stale);
  const budget = readBudget(core, row);
  const { amountUsd } = budget;
  const usedUsd = usedNano / 1e9;
  const { usd, exceedsOn } = forecast(row.period, span, core.clock.now(), amountUsd, (day) => byDay.get(day) ?? 0);
  const isOver = usedUsd >= amountUsd;
  return {
    ...budget,
    from: dateOfDay(span.first),
    to: dateOfDay(span.last),
    usedUsd,
    unpricedTokens,
    forecastUsd: usd,
    exceedsOn: exceedsOn === null || isOver ? null : dateOfDay(exceedsOn),
    state: isOver ? "exceeded" : usd === null ? "early" : usd > amountUsd ? "will exceed" : "on track",
    reached: rows(core.store)
      .crossings.all(row.id, span.first)
      .map(({ threshold }) => threshold),
  };
}

/** A page is not kept waiting for longer: what is not measured anew by then is shown as it was. */
const PAGE_MS = 25;

/** A team's budgets with where each stands: that of the whole team first. As fresh as spend, or a minute older where there are many. */
export const budgetStandings = (core: Core, teamId: string): Promise<BudgetStanding[]> =>
  standingsOf(core, teamId, core.clock.monotonic() + PAGE_MS);

/** The same, each as fresh as spend, for whoever waits for it. */
export const currentStandings = (core: Core, teamId: string): Promise<BudgetStanding[]> =>
  standingsOf(core, teamId, Number.POSITIVE_INFINITY);

/** @param until what is not measured anew by then is taken as it was, where it was measured before */
async function standingsOf(core: Core, teamId: string, until: number): Promise<BudgetStanding[]> {
  const yieldNow = cooperative(core.clock);
  const standings: BudgetStanding[] = [];
  for (const row of rows(core.store).ofTeam.all(teamId)) {
    standings.push(standingOf(core, row, core.clock.monotonic() > until));
    await yieldNow();
  }
  return standings;
}

export interface NewBudget {
  readonly scope: Scope;
  readonly subject: string;
  readonly period: Period;
  readonly amountUsd: number;
  readonly thresholds?: readonly number[] | undefined;
}

/**
 * Sets what a team, or one of its repositories, people (by id) or models, is to spend in a week or a month; another amount replaces it.
 * @throws Problem invalid, tooManyBudgets
 */
export async function setBudget(core: Core, teamId: string, budget: NewBudget, by: Actor): Promise<Budget> {
  const { scope, period, amountUsd, thresholds = DEFAULT_THRESHOLDS } = budget;
  const subject = scope === "team" ? "" : budget.subject;
  const amountCents = Math.round(amountUsd * 100);
  if (!(amountCents >= 1 && amountUsd <= MAX_USD)) fail(invalid, `The amount must lie between $0.01 and $${MAX_USD}.`);
  if (subject.length > MAX_SUBJECT || !subject.isWellFormed()) fail(invalid, "That name is too long.");
  const percents = [...new Set(thresholds)].sort((a, b) => a - b);
  const isRight = (one: number) => Number.isInteger(one) && one >= 1 && one <= MAX_THRESHOLD;
  if (percents.length === 0 || percents.length > MAX_THRESHOLDS || !percents.every(isRight))
    fail(invalid, `Thresholds are 1 to ${MAX_THRESHOLDS} whole percentages up to ${MAX_THRESHOLD}.`);
  return core.store.write(() => {
    const sql = rows(core.store);
    const key = { teamId, scope, subject, period };
    const before = sql.like.get(key);
    const given = { amountCents, thresholds: JSON.stringify(percents) };
    if (before?.amountCents === amountCents && before.thresholds === given.thresholds) return readBudget(core, before);
    // A budget is shown with the person's name, so the team must know the person.
    if (!before && scope === "person" && roleIn(core, teamId, subject) === undefined)
      fail(invalid, "A person whose budget it is has to be one of the team's people.");
    if (!before && (sql.count.get(teamId) ?? 0) >= MAX_BUDGETS) fail(tooManyBudgets);
    const row = before
      ? { ...before, ...given }
      : {
          ...key,
          ...given,
          id: newId("bgt", core.clock, core.random),
          createdAt: core.clock.now(),
          createdBy: makers.of(by),
        };
    if (before) {
      sql.change.run({ id: row.id, ...given });
      // Thresholds that were reached are reached no longer under a higher amount.
      sql.uncrossAbove.run({ id: row.id, amountNano: amountCents * 1e7 });
    } else sql.insert.run(row);
    recordEvent(core, by, {
      action: "budget.set",
      teamId,
      target: { kind: "budget", id: row.id },
      detail: { scope, subject, period, amountUsd: amountCents / 100, thresholds: percents },
    });
    return readBudget(core, row);
  });
}

/** Removes a budget. @throws Problem notFound */
export function removeBudget(core: Core, teamId: string, id: string, by: Actor): Promise<Budget> {
  return core.store.write(() => {
    const sql = rows(core.store);
    const row = sql.byId.get(id, teamId);
    if (!row) fail(notFound, "The team has no such budget.");
    sql.uncross.run(id);
    sql.remove.run(id);
    const { scope, subject, period } = row;
    recordEvent(core, by, {
      action: "budget.removed",
      teamId,
      target: { kind: "budget", id },
      detail: { scope, subject, period },
    });
    return readBudget(core, row);
  });
}
