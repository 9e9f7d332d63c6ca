-- Renames tables after the field's terms: web sessions are not agents' sessions, and what follows deliveries are projections. References
-- and foreign keys follow a renamed table; indexes are made anew under its name.
ALTER TABLE sessions RENAME TO web_sessions;
DROP INDEX sessions_by_user;
CREATE INDEX web_sessions_by_user ON web_sessions (user_id, ended_at, created_at);

ALTER TABLE account_links RENAME TO one_time_links;
DROP INDEX account_links_by_team;
DROP INDEX account_links_by_user;
CREATE INDEX one_time_links_by_team ON one_time_links (team_id, created_at);
CREATE INDEX one_time_links_by_user ON one_time_links (user_id);

ALTER TABLE session_windows RENAME TO trace_session_windows;
DROP INDEX session_windows_by_repo;
DROP INDEX session_windows_by_external_id;
CREATE INDEX trace_session_windows_by_repo ON trace_session_windows (team_id, repo_key, started_at);
CREATE INDEX trace_session_windows_by_external_id ON trace_session_windows (team_id, external_id);

ALTER TABLE session_commits RENAME TO trace_session_commits;
DROP INDEX session_commits_by_session;
CREATE INDEX trace_session_commits_by_session ON trace_session_commits (session_id);

ALTER TABLE session_files RENAME TO trace_session_files;
DROP INDEX session_files_by_name;
CREATE INDEX trace_session_files_by_name ON trace_session_files (team_id, repo_key, name);

ALTER TABLE session_edits RENAME TO trace_session_edits;
DROP INDEX session_edits_by_name;
DROP INDEX session_edits_by_session;
CREATE INDEX trace_session_edits_by_name ON trace_session_edits (team_id, name, at);
CREATE INDEX trace_session_edits_by_session ON trace_session_edits (session_id);

ALTER TABLE derivations RENAME TO projections;
ALTER TABLE projections RENAME COLUMN position TO checkpoint;
ALTER TABLE derivation_failures RENAME TO projection_failures;
ALTER TABLE projection_failures RENAME COLUMN position TO checkpoint;
