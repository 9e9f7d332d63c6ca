-- What is known of usages is told apart otherwise: the derived tables of spend are filled anew.
DROP TABLE spend_usages;
DELETE FROM spend_cells;
DELETE FROM derivations WHERE name LIKE 'spend.%';

-- Derived: every usage that was told of, so that it counts once however often and wherever. `usage_key` is a digest of the
-- provider's message id, or of the session and the figures where there is none: those of equal figures in one session lie
-- together, and beside them the messages told there on one side only. `source` is the trace session that told it, 0 for
-- telemetry, below 0 for such a message. `times` is how often it told so; the figures are those of one time. A `cell_id` of 0:
-- nothing to count here, but it keeps something else from counting.
CREATE TABLE spend_usages (
  team_id         TEXT NOT NULL,
  usage_key       BLOB NOT NULL,
  source          INTEGER NOT NULL,
  cell_id         INTEGER NOT NULL,
  times           INTEGER NOT NULL,
  usages          INTEGER NOT NULL,
  input           INTEGER NOT NULL,
  output          INTEGER NOT NULL,
  cache_write     INTEGER NOT NULL,
  cache_write_1h  INTEGER NOT NULL,
  cache_read      INTEGER NOT NULL,
  reported_nano   INTEGER NOT NULL,
  reported        INTEGER NOT NULL,
  PRIMARY KEY (team_id, usage_key, source, cell_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX spend_usages_by_source ON spend_usages (source) WHERE source > 0;

-- Models and days are what is asked for most: their cells lie in order.
CREATE INDEX spend_cells_by_model ON spend_cells (team_id, day, iif(model = '', session_model, model), context);
