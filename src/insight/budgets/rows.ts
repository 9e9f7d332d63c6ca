import { statements } from "../../platform/store/store.ts";

/** What a budget is of: all of a team, or one repository, person or model. */
export const SCOPES = ["team", "repo", "person", "model"] as const;
export type Scope = (typeof SCOPES)[number];
/** Calendar weeks from Monday on, and calendar months, UTC. */
export const PERIODS = ["week", "month"] as const;
export type Period = (typeof PERIODS)[number];

export interface BudgetRow {
  readonly id: string;
  readonly teamId: string;
  readonly scope: Scope;
  /** The repository's key, the person's id or the model's name; `""` for the team. */
  readonly subject: string;
  readonly period: Period;
  readonly amountCents: number;
  /** JSON: percent, ascending. */
  readonly thresholds: string;
  readonly createdAt: number;
  readonly createdBy: string;
}

export interface CrossingRow {
  readonly budgetId: string;
  /** The period's first day, since the epoch. */
  readonly day: number;
  readonly threshold: number;
  readonly at: number;
  /** Billionths of a dollar. */
  readonly usedNano: number;
}

const BUDGET = `SELECT id, team_id AS teamId, scope, subject, period, amount_cents AS amountCents, thresholds,
  created_at AS createdAt, created_by AS createdBy FROM budgets`;

export const rows = statements((db) => ({
  // The whole table, which is short.
  all: db.prepare<[], BudgetRow>(`${BUDGET} ORDER BY team_id, scope, subject, period`),
  // By budgets' unique index.
  ofTeam: db.prepare<[string], BudgetRow>(
    `${BUDGET} WHERE team_id = ? ORDER BY scope <> 'team', scope, subject, period`,
  ),
  like: db.prepare<[Pick<BudgetRow, "teamId" | "scope" | "subject" | "period">], BudgetRow>(
    `${BUDGET} WHERE team_id = @teamId AND scope = @scope AND subject = @subject AND period = @period`,
  ),
  count: db.prepare<[string], number>("SELECT count(*) FROM budgets WHERE team_id = ?").pluck(),
  // By primary key.
  byId: db.prepare<[string, string], BudgetRow>(`${BUDGET} WHERE id = ? AND team_id = ?`),
  insert: db.prepare<[BudgetRow]>(
    `INSERT INTO budgets (id, team_id, scope, subject, period, amount_cents, thresholds, created_at, created_by)
     VALUES (@id, @teamId, @scope, @subject, @period, @amountCents, @thresholds, @createdAt, @createdBy)`,
  ),
  change: db.prepare<[Pick<BudgetRow, "id" | "amountCents" | "thresholds">]>(
    "UPDATE budgets SET amount_cents = @amountCents, thresholds = @thresholds WHERE id = @id",
  ),
  remove: db.prepare<[string]>("DELETE FROM budgets WHERE id = ?"),
  // By budget_crossings' primary key, its first columns.
  crossings: db.prepare<[string, number], CrossingRow>(
    `SELECT budget_id AS budgetId, day, threshold, at, used_nano AS usedNano FROM budget_crossings
     WHERE budget_id = ? AND day = ? ORDER BY threshold`,
  ),
  cross: db.prepare<[CrossingRow]>(
    `INSERT INTO budget_crossings (budget_id, day, threshold, at, used_nano) VALUES (@budgetId, @day, @threshold, @at, @usedNano)
     ON CONFLICT DO NOTHING`,
  ),
  uncross: db.prepare<[string]>("DELETE FROM budget_crossings WHERE budget_id = ?"),
  uncrossAbove: db.prepare<[{ id: string; amountNano: number }]>(
    "DELETE FROM budget_crossings WHERE budget_id = @id AND used_nano * 100.0 < threshold * 1.0 * @amountNano",
  ),
  // Walks of the table.
  ofSubject: db
    .prepare<[{ scope: Scope; subject: string; teams: string | null; limit: number }], string>(
      `SELECT id FROM budgets WHERE scope = @scope AND subject = @subject
         AND (@teams IS NULL OR team_id IN (SELECT value FROM json_each(@teams))) LIMIT @limit`,
    )
    .pluck(),
  renameMaker: db.prepare<[string, string, number]>(
    "UPDATE budgets SET created_by = ? WHERE id IN (SELECT id FROM budgets WHERE created_by = ? LIMIT ?)",
  ),
}));
