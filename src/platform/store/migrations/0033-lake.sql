-- The lake: what of the record lies in it, and what changed since.

CREATE INDEX telemetry_segments_by_block ON telemetry_segments (block_id) WHERE block_id IS NOT NULL;
CREATE TABLE lake_places (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  place TEXT NOT NULL,
  shard TEXT NOT NULL,
  last_block INTEGER NOT NULL,
  prices TEXT NOT NULL,
  current_at INTEGER
) STRICT;
CREATE TABLE lake_objects (
  path TEXT PRIMARY KEY,
  block_id INTEGER,
  rows INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  source_sha256 BLOB,
  written_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX lake_objects_by_block ON lake_objects (block_id) WHERE block_id IS NOT NULL;
CREATE TABLE lake_marks (
  kind TEXT NOT NULL CHECK (kind IN ('spend', 'sessions', 'errors')),
  team_id TEXT NOT NULL,
  day TEXT NOT NULL,
  version INTEGER NOT NULL,
  PRIMARY KEY (kind, team_id, day)
) STRICT, WITHOUT ROWID;
CREATE TABLE lake_gone (
  block_id INTEGER PRIMARY KEY
) STRICT;
CREATE VIEW lake_changes (kind, team_id, day) AS SELECT '', '', 0 WHERE false;
CREATE TRIGGER lake_changes_in INSTEAD OF INSERT ON lake_changes WHEN EXISTS (SELECT 1 FROM lake_places) BEGIN
  INSERT INTO lake_marks (kind, team_id, day, version)
  VALUES (NEW.kind, NEW.team_id, date(max(-1, min(NEW.day, 47482)) * 86400, 'unixepoch'), 1)
  ON CONFLICT (kind, team_id, day) DO UPDATE SET version = version + 1;
END;
CREATE TRIGGER spend_cells_lake_in AFTER INSERT ON spend_cells BEGIN
  INSERT INTO lake_changes VALUES ('spend', NEW.team_id, NEW.day);
END;
CREATE TRIGGER spend_cells_lake_out AFTER DELETE ON spend_cells BEGIN
  INSERT INTO lake_changes VALUES ('spend', OLD.team_id, OLD.day);
END;
CREATE TRIGGER spend_cells_lake_over AFTER UPDATE ON spend_cells BEGIN
  INSERT INTO lake_changes VALUES ('spend', NEW.team_id, NEW.day);
END;
CREATE TRIGGER session_figures_lake_in AFTER INSERT ON session_figures WHEN NEW.session_id IS NOT NULL BEGIN
  INSERT INTO lake_changes VALUES ('sessions', NEW.team_id, iif(NEW.started_at < 0, -1, NEW.started_at / 86400000));
END;
CREATE TRIGGER session_figures_lake_out AFTER DELETE ON session_figures WHEN OLD.session_id IS NOT NULL BEGIN
  INSERT INTO lake_changes VALUES ('sessions', OLD.team_id, iif(OLD.started_at < 0, -1, OLD.started_at / 86400000));
END;
CREATE TRIGGER session_figures_lake_over AFTER UPDATE ON session_figures WHEN NEW.session_id IS NOT NULL BEGIN
  INSERT INTO lake_changes VALUES ('sessions', OLD.team_id, iif(OLD.started_at < 0, -1, OLD.started_at / 86400000));
  INSERT INTO lake_changes VALUES ('sessions', NEW.team_id, iif(NEW.started_at < 0, -1, NEW.started_at / 86400000));
END;
CREATE TRIGGER defects_lake_in AFTER INSERT ON defects BEGIN
  INSERT INTO lake_changes VALUES ('errors', NEW.team_id, unixepoch(NEW.date) / 86400);
END;
CREATE TRIGGER defects_lake_out AFTER DELETE ON defects BEGIN
  INSERT INTO lake_changes VALUES ('errors', OLD.team_id, unixepoch(OLD.date) / 86400);
END;
CREATE TRIGGER defects_lake_over AFTER UPDATE ON defects BEGIN
  INSERT INTO lake_changes VALUES ('errors', OLD.team_id, unixepoch(OLD.date) / 86400);
  INSERT INTO lake_changes VALUES ('errors', NEW.team_id, unixepoch(NEW.date) / 86400);
END;
CREATE TRIGGER telemetry_blocks_lake_out AFTER DELETE ON telemetry_blocks WHEN EXISTS (SELECT 1 FROM lake_places) BEGIN
  INSERT INTO lake_gone (block_id) VALUES (OLD.id) ON CONFLICT DO NOTHING;
END;
