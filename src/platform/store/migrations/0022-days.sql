-- Sessions counted by the day (UTC, days since the epoch) on which they began and their outcome's first 40 characters; triggers keep it
-- exact. Sessions without a start are in no day.
CREATE TABLE trace_session_days (
  team_id   TEXT NOT NULL REFERENCES teams (id),
  day       INTEGER NOT NULL,
  outcome   TEXT NOT NULL,
  sessions  INTEGER NOT NULL,
  PRIMARY KEY (team_id, day, outcome)
) STRICT, WITHOUT ROWID;
INSERT INTO trace_session_days (team_id, day, outcome, sessions)
SELECT team_id, started_at / 86400000, substr(outcome, 1, 40), count(*) FROM trace_sessions WHERE started_at IS NOT NULL GROUP BY 1, 2, 3;
CREATE TRIGGER trace_sessions_day_in AFTER INSERT ON trace_sessions WHEN NEW.started_at IS NOT NULL BEGIN
  INSERT INTO trace_session_days (team_id, day, outcome, sessions)
  VALUES (NEW.team_id, NEW.started_at / 86400000, substr(NEW.outcome, 1, 40), 1)
  ON CONFLICT (team_id, day, outcome) DO UPDATE SET sessions = sessions + 1;
END;
CREATE TRIGGER trace_sessions_day_out AFTER DELETE ON trace_sessions WHEN OLD.started_at IS NOT NULL BEGIN
  UPDATE trace_session_days SET sessions = sessions - 1
  WHERE team_id = OLD.team_id AND day = OLD.started_at / 86400000 AND outcome = substr(OLD.outcome, 1, 40);
  DELETE FROM trace_session_days
  WHERE team_id = OLD.team_id AND day = OLD.started_at / 86400000 AND outcome = substr(OLD.outcome, 1, 40) AND sessions <= 0;
END;
CREATE TRIGGER trace_sessions_day_over AFTER UPDATE OF team_id, started_at, outcome ON trace_sessions
WHEN OLD.started_at IS NOT NEW.started_at OR OLD.outcome <> NEW.outcome OR OLD.team_id <> NEW.team_id BEGIN
  UPDATE trace_session_days SET sessions = sessions - 1
  WHERE team_id = OLD.team_id AND day = OLD.started_at / 86400000 AND outcome = substr(OLD.outcome, 1, 40);
  DELETE FROM trace_session_days
  WHERE team_id = OLD.team_id AND day = OLD.started_at / 86400000 AND outcome = substr(OLD.outcome, 1, 40) AND sessions <= 0;
  INSERT INTO trace_session_days (team_id, day, outcome, sessions)
  SELECT NEW.team_id, NEW.started_at / 86400000, substr(NEW.outcome, 1, 40), 1 WHERE NEW.started_at IS NOT NULL
  ON CONFLICT (team_id, day, outcome) DO UPDATE SET sessions = sessions + 1;
END;

-- Derived: the cells' sums by day, model (that of the session where the record told none) and size class, for questions about the whole
-- team; triggers keep it like the cells.
CREATE TABLE spend_days (
  team_id         TEXT NOT NULL,
  day             INTEGER NOT NULL,
  model           TEXT NOT NULL,
  context         INTEGER NOT NULL,
  usages          INTEGER NOT NULL,
  input           INTEGER NOT NULL,
  output          INTEGER NOT NULL,
  cache_write     INTEGER NOT NULL,
  cache_write_1h  INTEGER NOT NULL,
  cache_read      INTEGER NOT NULL,
  reported_nano   INTEGER NOT NULL,
  reported        INTEGER NOT NULL,
  PRIMARY KEY (team_id, day, model, context)
) STRICT, WITHOUT ROWID;
INSERT INTO spend_days (team_id, day, model, context,
    usages, input, output, cache_write, cache_write_1h, cache_read, reported_nano, reported)
SELECT team_id, day, iif(model = '', session_model, model), context,
  CAST(min(9007199254740991, total(usages)) AS INTEGER),
  CAST(min(9007199254740991, total(input)) AS INTEGER),
  CAST(min(9007199254740991, total(output)) AS INTEGER),
  CAST(min(9007199254740991, total(cache_write)) AS INTEGER),
  CAST(min(9007199254740991, total(cache_write_1h)) AS INTEGER),
  CAST(min(9007199254740991, total(cache_read)) AS INTEGER),
  CAST(min(9007199254740991, total(reported_nano)) AS INTEGER),
  CAST(min(9007199254740991, total(reported)) AS INTEGER)
FROM spend_cells WHERE usages > 0 OR reported > 0 GROUP BY 1, 2, 3, 4;
CREATE TRIGGER spend_cells_day_out AFTER DELETE ON spend_cells WHEN OLD.usages > 0 OR OLD.reported > 0 BEGIN
  UPDATE spend_days SET
    usages = max(0, usages - OLD.usages),
    input = max(0, input - OLD.input),
    output = max(0, output - OLD.output),
    cache_write = max(0, cache_write - OLD.cache_write),
    cache_write_1h = max(0, cache_write_1h - OLD.cache_write_1h),
    cache_read = max(0, cache_read - OLD.cache_read),
    reported_nano = max(0, reported_nano - OLD.reported_nano),
    reported = max(0, reported - OLD.reported)
  WHERE team_id = OLD.team_id AND day = OLD.day AND model = iif(OLD.model = '', OLD.session_model, OLD.model) AND context = OLD.context;
  DELETE FROM spend_days
  WHERE team_id = OLD.team_id AND day = OLD.day AND model = iif(OLD.model = '', OLD.session_model, OLD.model) AND context = OLD.context
    AND usages = 0 AND reported = 0;
END;
CREATE TRIGGER spend_cells_day
AFTER UPDATE OF session_model, usages, input, output, cache_write, cache_write_1h, cache_read, reported_nano, reported
ON spend_cells BEGIN
  UPDATE spend_days SET
    usages = max(0, usages - OLD.usages),
    input = max(0, input - OLD.input),
    output = max(0, output - OLD.output),
    cache_write = max(0, cache_write - OLD.cache_write),
    cache_write_1h = max(0, cache_write_1h - OLD.cache_write_1h),
    cache_read = max(0, cache_read - OLD.cache_read),
    reported_nano = max(0, reported_nano - OLD.reported_nano),
    reported = max(0, reported - OLD.reported)
  WHERE team_id = OLD.team_id AND day = OLD.day AND model = iif(OLD.model = '', OLD.session_model, OLD.model) AND context = OLD.context;
  DELETE FROM spend_days
  WHERE team_id = OLD.team_id AND day = OLD.day AND model = iif(OLD.model = '', OLD.session_model, OLD.model) AND context = OLD.context
    AND usages = 0 AND reported = 0;
  INSERT INTO spend_days (team_id, day, model, context,
    usages, input, output, cache_write, cache_write_1h, cache_read, reported_nano, reported)
  SELECT NEW.team_id, NEW.day, iif(NEW.model = '', NEW.session_model, NEW.model), NEW.context,
    NEW.usages, NEW.input, NEW.output, NEW.cache_write, NEW.cache_write_1h, NEW.cache_read, NEW.reported_nano, NEW.reported
  WHERE NEW.usages > 0 OR NEW.reported > 0
  ON CONFLICT (team_id, day, model, context) DO UPDATE SET
    usages = min(9007199254740991, usages + excluded.usages),
    input = min(9007199254740991, input + excluded.input),
    output = min(9007199254740991, output + excluded.output),
    cache_write = min(9007199254740991, cache_write + excluded.cache_write),
    cache_write_1h = min(9007199254740991, cache_write_1h + excluded.cache_write_1h),
    cache_read = min(9007199254740991, cache_read + excluded.cache_read),
    reported_nano = min(9007199254740991, reported_nano + excluded.reported_nano),
    reported = min(9007199254740991, reported + excluded.reported);
END;
