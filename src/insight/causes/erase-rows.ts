import { statements } from "../../platform/store/store.ts";

export const eraseRows = statements((db) => ({
  // By causal_links_by_session.
  dropLinks: db.prepare<[number, number]>(
    `DELETE FROM causal_links WHERE rowid IN (
       SELECT rowid FROM causal_links WHERE session_id = ? AND origin = 'computed' AND verdict IS NULL LIMIT ?)`,
  ),
  detachLinks: db.prepare<[number, number]>(
    `UPDATE causal_links SET session_id = NULL, commit_sha = NULL, prompt_excerpt = NULL, evidence = '[]' WHERE rowid IN (
       SELECT rowid FROM causal_links WHERE session_id = ? LIMIT ?)`,
  ),
  // By causal_links_by_repo.
  ofRepo: db.prepare<[string, string], { id: string; entryId: number; sessionId: number | null }>(
    "SELECT id, entry_id AS entryId, session_id AS sessionId FROM causal_links WHERE team_id = ? AND repo_key = ?",
  ),
  // By primary key.
  hasLink: db.prepare<[string | null], number>("SELECT 1 FROM causal_links WHERE id = ?").pluck(),
  dropLink: db.prepare<[string]>("DELETE FROM causal_links WHERE id = ?"),
  // A walk of the table, for one person.
  renameDecider: db.prepare<[string, string, number]>(
    "UPDATE causal_links SET decided_by = ? WHERE rowid IN (SELECT rowid FROM causal_links WHERE decided_by = ? LIMIT ?)",
  ),
  // By trace_session_edits_by_session, trace_session_commits_by_session and primary keys.
  dropEdits: db.prepare<[number, number]>(
    "DELETE FROM trace_session_edits WHERE id IN (SELECT id FROM trace_session_edits WHERE session_id = ? LIMIT ?)",
  ),
  dropFiles: db.prepare<[number, number]>(
    `DELETE FROM trace_session_files WHERE (session_id, path) IN (
       SELECT session_id, path FROM trace_session_files WHERE session_id = ? LIMIT ?)`,
  ),
  dropCommits: db.prepare<[number, number]>(
    `DELETE FROM trace_session_commits WHERE (team_id, sha, session_id) IN (
       SELECT team_id, sha, session_id FROM trace_session_commits WHERE session_id = ? LIMIT ?)`,
  ),
  // By primary key and trace_session_windows_by_external_id.
  dropNoted: db.prepare<[{ teamId: string; externalId: string; commit: string }]>(
    `DELETE FROM trace_session_commits WHERE team_id = @teamId AND sha = lower(@commit) AND session_id IN (
       SELECT session_id FROM trace_session_windows WHERE team_id = @teamId AND external_id = @externalId)`,
  ),
  // Each by the session.
  hasEvidence: db
    .prepare<[{ sessionId: number }], number>(
      `SELECT EXISTS (SELECT 1 FROM causal_links WHERE session_id = @sessionId)
         OR EXISTS (SELECT 1 FROM trace_session_windows WHERE session_id = @sessionId)
         OR EXISTS (SELECT 1 FROM trace_session_edits WHERE session_id = @sessionId)
         OR EXISTS (SELECT 1 FROM trace_session_files WHERE session_id = @sessionId)
         OR EXISTS (SELECT 1 FROM trace_session_commits WHERE session_id = @sessionId)`,
    )
    .pluck(),
  dropWindow: db.prepare<[number]>("DELETE FROM trace_session_windows WHERE session_id = ?"),
}));
