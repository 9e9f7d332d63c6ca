-- Finds the sessions of a repository that caused defects, without a look at all its sessions.
CREATE INDEX session_figures_by_cause ON session_figures (team_id, repo_key) WHERE caused > 0;
