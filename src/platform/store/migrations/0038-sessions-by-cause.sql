-- What a repository's sessions are held answerable for is found without a look at all of them.
CREATE INDEX session_figures_by_cause ON session_figures (team_id, repo_key) WHERE caused > 0;
