-- Usage that agents exported over OTLP counts once when others report it, too, so all usage is counted anew. Sums of spend by day are kept
-- by the code that changes the cells, once for each transaction, and no longer by triggers, once for each cell.
DROP TRIGGER spend_cells_day_out;
DROP TRIGGER spend_cells_day;
DELETE FROM spend_days;
DELETE FROM spend_usages;
DELETE FROM spend_cells;
DELETE FROM session_figures WHERE session_id IS NULL;
UPDATE session_figures SET tokens = 0, unpriced = 0, cost_nano = -1, cost_rest = 0;
ALTER TABLE spend_cells ADD COLUMN otlp INTEGER NOT NULL DEFAULT 0;
ALTER TABLE spend_cells ADD COLUMN counts INTEGER NOT NULL DEFAULT 1;
DROP INDEX spend_cells_by_day;
CREATE UNIQUE INDEX spend_cells_by_day
  ON spend_cells (team_id, day, repo_key, branch, model, device_id, session, context, otlp);
CREATE INDEX spend_cells_of_team ON spend_cells (team_id, session, otlp);
