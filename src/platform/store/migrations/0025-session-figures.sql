-- A row for each session, by which lists find, order and sum. What its document says is read again from the sessions, its cost from the
-- cells of spend; only what it caused is counted here.
CREATE TABLE session_figures (
  id            INTEGER PRIMARY KEY,
  team_id       TEXT NOT NULL,
  device_id     TEXT NOT NULL,
  external_id   TEXT NOT NULL,
  session_id    INTEGER,
  repo_key      TEXT NOT NULL,
  branch        TEXT NOT NULL,
  agent         TEXT NOT NULL,
  model         TEXT NOT NULL,
  outcome       TEXT NOT NULL,
  result        TEXT NOT NULL,
  title         TEXT,
  started_at    INTEGER NOT NULL,
  duration      INTEGER NOT NULL,
  commits       INTEGER NOT NULL,
  failed_steps  INTEGER NOT NULL,
  caused        INTEGER NOT NULL,
  tokens        INTEGER NOT NULL,
  unpriced      INTEGER NOT NULL,
  cost_nano     INTEGER NOT NULL,
  cost_rest     INTEGER NOT NULL,
  UNIQUE (device_id, external_id)
) STRICT;
INSERT INTO session_figures (team_id, device_id, external_id, session_id, repo_key, branch, agent, model, outcome, result, title,
  started_at, duration, commits, failed_steps, caused, tokens, unpriced, cost_nano, cost_rest)
SELECT team_id, device_id, external_id, id, repo_key, coalesce(branch, ''), coalesce(agent, ''), coalesce(model, ''), outcome, 'unknown',
  NULL, coalesce(started_at, -9007199254740991), coalesce(max(ended_at - started_at, -1), -1), 0, 0,
  (SELECT count(DISTINCT entry_id) FROM causal_links l WHERE l.session_id = trace_sessions.id AND l.verdict IS NOT 'rejected'
     AND l.gone_after IS NULL AND (l.band <> 'weak' OR l.origin = 'person' OR l.verdict IS 'confirmed')),
  0, 0, -1, 0
FROM trace_sessions;
CREATE UNIQUE INDEX session_figures_by_session ON session_figures (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX session_figures_by_start ON session_figures (team_id, started_at, session_id) WHERE session_id IS NOT NULL;
CREATE INDEX session_figures_by_repo ON session_figures (team_id, repo_key, started_at, session_id) WHERE session_id IS NOT NULL;
CREATE INDEX session_figures_by_duration ON session_figures (team_id, duration, session_id) WHERE session_id IS NOT NULL;
CREATE INDEX session_figures_by_cost ON session_figures (team_id, cost_nano, session_id) WHERE session_id IS NOT NULL;
CREATE INDEX session_figures_by_tokens ON session_figures (team_id, tokens, session_id) WHERE session_id IS NOT NULL;
CREATE INDEX session_figures_by_errors ON session_figures (team_id, failed_steps + caused, session_id) WHERE session_id IS NOT NULL;

-- The prices at which the costs of sessions are kept; no row before they are computed for the first time.
CREATE TABLE spend_pricing (
  id       INTEGER PRIMARY KEY CHECK (id = 1),
  version  TEXT NOT NULL
) STRICT;

-- Whose agent's spend it was is summed as well.
ALTER TABLE spend_cells ADD COLUMN session_agent TEXT NOT NULL DEFAULT '';
UPDATE spend_cells SET session_agent = ifnull((SELECT agent FROM trace_sessions t
  WHERE t.device_id = spend_cells.device_id AND t.external_id = spend_cells.session), '') WHERE session <> '';
