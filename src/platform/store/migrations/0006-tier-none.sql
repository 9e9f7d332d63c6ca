-- A tier that includes nothing. SQLite cannot change a CHECK in place, so the table is made anew, with foreign keys switched off.
CREATE TABLE teams_with_none (
  id                       TEXT PRIMARY KEY,
  name                     TEXT NOT NULL UNIQUE,
  tier                     TEXT NOT NULL CHECK (tier IN ('none', 'starter', 'team', 'enterprise')),
  seats                    INTEGER NOT NULL CHECK (seats >= 0),
  subscription             TEXT NOT NULL CHECK (subscription IN ('active', 'trialing', 'past_due', 'canceled', 'none')),
  subscription_changed_at  INTEGER NOT NULL,
  period_end_at            INTEGER,
  suspended_at             INTEGER,
  created_at               INTEGER NOT NULL,
  verified_at              INTEGER
) STRICT;
INSERT INTO teams_with_none
  SELECT id, name, tier, seats, subscription, subscription_changed_at, period_end_at, suspended_at, created_at, verified_at
  FROM teams;
DROP TABLE teams;
ALTER TABLE teams_with_none RENAME TO teams;
