-- What is to be spent at most, and which thresholds were reached in which period.
CREATE TABLE budgets (
  id            TEXT PRIMARY KEY,
  team_id       TEXT NOT NULL REFERENCES teams (id),
  scope         TEXT NOT NULL CHECK (scope IN ('team', 'repo', 'person', 'model')),
  subject       TEXT NOT NULL,
  period        TEXT NOT NULL CHECK (period IN ('week', 'month')),
  amount_cents  INTEGER NOT NULL CHECK (amount_cents > 0),
  thresholds    TEXT NOT NULL,
  created_at    INTEGER NOT NULL,
  created_by    TEXT NOT NULL,
  UNIQUE (team_id, scope, subject, period)
) STRICT;

CREATE TABLE budget_crossings (
  budget_id  TEXT NOT NULL REFERENCES budgets (id),
  day        INTEGER NOT NULL,
  threshold  INTEGER NOT NULL,
  at         INTEGER NOT NULL,
  used_nano  INTEGER NOT NULL,
  PRIMARY KEY (budget_id, day, threshold)
) STRICT, WITHOUT ROWID;
