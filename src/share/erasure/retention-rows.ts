import { statements } from "../../platform/store/store.ts";

/** What is kept for a number of days, as the schema has it. */
export const RETENTION_KINDS = ["telemetry", "brain", "traces", "reads", "audit", "web-sessions"] as const;
export type RetentionKind = (typeof RETENTION_KINDS)[number];

export interface RuleRow {
  readonly teamId: string;
  readonly kind: RetentionKind;
  readonly days: number;
}

const RULE = "SELECT team_id AS teamId, kind, days FROM retention_rules";

/** By retention_rules' primary key, or the whole table, which is short. */
export const retentionRows = statements((db) => ({
  all: db.prepare<[], RuleRow>(`${RULE} ORDER BY team_id, kind`),
  ofTeam: db.prepare<[string], RuleRow>(`${RULE} WHERE team_id = ? ORDER BY kind`),
  put: db.prepare<[RuleRow]>(
    `INSERT INTO retention_rules (team_id, kind, days) VALUES (@teamId, @kind, @days)
     ON CONFLICT (team_id, kind) DO UPDATE SET days = excluded.days`,
  ),
  drop: db.prepare<[string, string]>("DELETE FROM retention_rules WHERE team_id = ? AND kind = ?"),
}));
