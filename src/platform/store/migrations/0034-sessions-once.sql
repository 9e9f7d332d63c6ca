-- A session that was exported over OTLP, and that the capture client sent on another device of the team, counts once.
ALTER TABLE trace_sessions ADD COLUMN exported INTEGER NOT NULL DEFAULT 0;
CREATE INDEX trace_sessions_by_name ON trace_sessions (team_id, external_id, exported);
CREATE INDEX trace_sessions_unlisted ON trace_sessions (team_id, repo_key, model, agent) WHERE exported = 2;
UPDATE trace_sessions SET exported = 1
WHERE id IN (SELECT id FROM trace_sessions WHERE repo_key = '')
  AND EXISTS (SELECT 1 FROM trace_spans s WHERE s.session_id = trace_sessions.id)
  AND NOT EXISTS (SELECT 1 FROM trace_spans s WHERE s.session_id = trace_sessions.id AND instr(s.document, '"via":"otlp"') = 0)
  AND instr(document, '"files":') = 0;

DROP TRIGGER trace_sessions_day_in;
DROP TRIGGER trace_sessions_day_out;
DROP TRIGGER trace_sessions_day_over;
CREATE TRIGGER trace_sessions_day_in AFTER INSERT ON trace_sessions WHEN NEW.started_at IS NOT NULL AND NEW.exported < 2 BEGIN
  INSERT INTO trace_session_days (team_id, day, outcome, sessions)
  VALUES (NEW.team_id, NEW.started_at / 86400000, substr(NEW.outcome, 1, 40), 1)
  ON CONFLICT (team_id, day, outcome) DO UPDATE SET sessions = sessions + 1;
END;
CREATE TRIGGER trace_sessions_day_out AFTER DELETE ON trace_sessions WHEN OLD.started_at IS NOT NULL AND OLD.exported < 2 BEGIN
  UPDATE trace_session_days SET sessions = sessions - 1
  WHERE team_id = OLD.team_id AND day = OLD.started_at / 86400000 AND outcome = substr(OLD.outcome, 1, 40);
  DELETE FROM trace_session_days
  WHERE team_id = OLD.team_id AND day = OLD.started_at / 86400000 AND outcome = substr(OLD.outcome, 1, 40) AND sessions <= 0;
END;
CREATE TRIGGER trace_sessions_day_over AFTER UPDATE OF team_id, started_at, outcome, exported ON trace_sessions
WHEN OLD.started_at IS NOT NEW.started_at OR OLD.outcome <> NEW.outcome OR OLD.team_id <> NEW.team_id
  OR (OLD.exported < 2) <> (NEW.exported < 2) BEGIN
  UPDATE trace_session_days SET sessions = sessions - 1
  WHERE OLD.exported < 2 AND team_id = OLD.team_id AND day = OLD.started_at / 86400000 AND outcome = substr(OLD.outcome, 1, 40);
  DELETE FROM trace_session_days
  WHERE team_id = OLD.team_id AND day = OLD.started_at / 86400000 AND outcome = substr(OLD.outcome, 1, 40) AND sessions <= 0;
  INSERT INTO trace_session_days (team_id, day, outcome, sessions)
  SELECT NEW.team_id, NEW.started_at / 86400000, substr(NEW.outcome, 1, 40), 1 WHERE NEW.started_at IS NOT NULL AND NEW.exported < 2
  ON CONFLICT (team_id, day, outcome) DO UPDATE SET sessions = sessions + 1;
END;

CREATE TRIGGER trace_sessions_whole_in AFTER INSERT ON trace_sessions WHEN NEW.exported = 0 BEGIN
  UPDATE trace_sessions SET exported = 2 WHERE team_id = NEW.team_id AND external_id = NEW.external_id AND exported = 1;
END;
CREATE TRIGGER trace_sessions_whole_over AFTER UPDATE OF exported ON trace_sessions WHEN OLD.exported > 0 AND NEW.exported = 0 BEGIN
  UPDATE trace_sessions SET exported = 2 WHERE team_id = NEW.team_id AND external_id = NEW.external_id AND exported = 1;
END;
CREATE TRIGGER trace_sessions_whole_out AFTER DELETE ON trace_sessions WHEN OLD.exported = 0
  AND NOT EXISTS (SELECT 1 FROM trace_sessions WHERE team_id = OLD.team_id AND external_id = OLD.external_id AND exported = 0) BEGIN
  UPDATE trace_sessions SET exported = 1 WHERE team_id = OLD.team_id AND external_id = OLD.external_id AND exported = 2;
END;

-- A session that leaves the lists also leaves the lake.
DROP TRIGGER session_figures_lake_over;
CREATE TRIGGER session_figures_lake_over AFTER UPDATE ON session_figures BEGIN
  INSERT INTO lake_changes SELECT 'sessions', OLD.team_id, iif(OLD.started_at < 0, -1, OLD.started_at / 86400000)
  WHERE OLD.session_id IS NOT NULL;
  INSERT INTO lake_changes SELECT 'sessions', NEW.team_id, iif(NEW.started_at < 0, -1, NEW.started_at / 86400000)
  WHERE NEW.session_id IS NOT NULL;
END;

UPDATE trace_sessions SET exported = 2 WHERE exported = 1 AND EXISTS (
  SELECT 1 FROM trace_sessions o WHERE o.team_id = trace_sessions.team_id AND o.external_id = trace_sessions.external_id AND o.exported = 0);
UPDATE session_figures SET session_id = NULL, repo_key = '', branch = '', agent = '', model = '', outcome = '', result = 'unknown', title = NULL,
  started_at = -9007199254740991, duration = -1, commits = 0, failed_steps = 0, caused = 0
WHERE session_id IN (SELECT id FROM trace_sessions WHERE exported = 2);
