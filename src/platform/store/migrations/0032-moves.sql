-- Teams that moved to another instance, and those that came from one.
ALTER TABLE teams ADD COLUMN moved_to TEXT;
ALTER TABLE teams ADD COLUMN moved_at INTEGER;
ALTER TABLE teams ADD COLUMN move_confirmed_at INTEGER;
ALTER TABLE deliveries ADD COLUMN moved_from TEXT;

-- What came with a team from another instance's log, `leaf` by `leaf`: `data` is a JSON object that names that log's head.
CREATE TABLE log_imports (
  leaf     INTEGER PRIMARY KEY,
  team_id  TEXT NOT NULL REFERENCES teams (id),
  data     TEXT NOT NULL
) STRICT;
CREATE INDEX log_imports_by_team ON log_imports (team_id);

-- Which leaf there is which here; the two have the same hash.
CREATE TABLE log_import_leaves (
  import_leaf  INTEGER NOT NULL REFERENCES log_imports (leaf),
  origin       INTEGER NOT NULL,
  leaf         INTEGER NOT NULL,
  PRIMARY KEY (import_leaf, origin)
) STRICT, WITHOUT ROWID;

-- Roots of the subtrees between them, which lead from the team's leaves to the root that was signed: of 2^`level` leaves each, the
-- first of which has the index `first`.
CREATE TABLE log_import_nodes (
  import_leaf  INTEGER NOT NULL REFERENCES log_imports (leaf),
  first        INTEGER NOT NULL,
  level        INTEGER NOT NULL,
  sha256       BLOB NOT NULL,
  PRIMARY KEY (import_leaf, first)
) STRICT, WITHOUT ROWID;
