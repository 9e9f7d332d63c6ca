import { statements } from "../../platform/store/store.ts";
import type { readSessionSource } from "../../record/traces/traces.ts";

type SessionSource = NonNullable<ReturnType<typeof readSessionSource>>;

export interface EditRow {
  readonly id: number;
  readonly path: string;
  readonly at: number | null;
  readonly spanId: string;
  readonly startLine: number | null;
  readonly endLine: number | null;
  readonly shift: number | null;
  readonly commit: string | null;
}

/** What is kept of a session itself. */
export interface WindowRow
  extends Pick<SessionSource, "teamId" | "repoKey" | "externalId" | "agent" | "model" | "startedAt" | "endedAt"> {
  readonly sessionId: number;
}

export interface MakerRow extends Pick<WindowRow, "sessionId" | "repoKey" | "startedAt" | "endedAt"> {
  readonly sha: string;
  readonly at: number | null;
}

export interface TouchRow extends Pick<WindowRow, "sessionId" | "startedAt" | "endedAt"> {
  readonly path: string;
}

export interface LineEditRow extends EditRow {
  readonly sessionId: number;
  readonly repoKey: string;
}

const EDIT =
  "id, path, at, span_id AS spanId, start_line AS startLine, end_line AS endLine, shift, commit_sha AS 'commit'";

const WINDOW = `SELECT session_id AS sessionId, team_id AS teamId, repo_key AS repoKey, external_id AS externalId, agent, model,
  started_at AS startedAt, ended_at AS endedAt FROM trace_session_windows`;

/** What sessions tell of their part in a defect. */
export const evidenceRows = statements((db) => ({
  // By primary key.
  window: db.prepare<[number], WindowRow>(`${WINDOW} WHERE session_id = ?`),
  putWindow: db.prepare<[WindowRow]>(
    `INSERT INTO trace_session_windows (session_id, team_id, repo_key, external_id, agent, model, started_at, ended_at)
     VALUES (@sessionId, @teamId, @repoKey, @externalId, @agent, @model, @startedAt, @endedAt)
     ON CONFLICT (session_id) DO UPDATE SET repo_key = excluded.repo_key, agent = excluded.agent, model = excluded.model,
       started_at = excluded.started_at, ended_at = excluded.ended_at`,
  ),
  // By trace_session_windows_by_external_id; devices may give their sessions equal ids: the newest is meant.
  windowsNamed: db.prepare<[string, string], WindowRow>(
    `${WINDOW} WHERE team_id = ? AND external_id = ? ORDER BY session_id DESC`,
  ),
  // By trace_session_windows_by_repo, from the range's end.
  windowsOn: db.prepare<[string, string, number, number], WindowRow>(
    `${WINDOW} WHERE team_id = ? AND repo_key = ? AND started_at BETWEEN ? AND ? ORDER BY started_at DESC, session_id DESC`,
  ),
  // By trace_session_commits_by_session.
  commits: db.prepare<[number], { sha: string; at: number | null }>(
    "SELECT sha, at FROM trace_session_commits WHERE session_id = ? ORDER BY sha",
  ),
  putCommit: db.prepare<[string, string, number, number | null]>(
    `INSERT INTO trace_session_commits (team_id, sha, session_id, at) VALUES (?, ?, ?, ?)
     ON CONFLICT (team_id, sha, session_id) DO UPDATE SET at = excluded.at`,
  ),
  dropCommit: db.prepare<[string, string, number]>(
    "DELETE FROM trace_session_commits WHERE team_id = ? AND sha = ? AND session_id = ?",
  ),
  // By the primary key's first two columns; windows by theirs.
  makers: db.prepare<[string, string, string], MakerRow>(
    `SELECT c.sha, c.session_id AS sessionId, c.at, w.repo_key AS repoKey, w.started_at AS startedAt, w.ended_at AS endedAt
     FROM trace_session_commits c CROSS JOIN trace_session_windows w ON w.session_id = c.session_id
     WHERE c.team_id = ? AND c.sha BETWEEN ? AND ? ORDER BY c.sha, c.session_id`,
  ),
  // By primary key.
  files: db
    .prepare<[number], string>("SELECT path FROM trace_session_files WHERE session_id = ? ORDER BY path")
    .pluck(),
  putFile: db.prepare<[number, string, string, string, string]>(
    `INSERT INTO trace_session_files (session_id, path, team_id, repo_key, name) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (session_id, path) DO UPDATE SET repo_key = excluded.repo_key`,
  ),
  dropFile: db.prepare<[number, string]>("DELETE FROM trace_session_files WHERE session_id = ? AND path = ?"),
  // By trace_session_files_by_name; windows by primary key.
  touches: db.prepare<[string, string, string], TouchRow>(
    `SELECT f.session_id AS sessionId, f.path, w.started_at AS startedAt, w.ended_at AS endedAt
     FROM trace_session_files f CROSS JOIN trace_session_windows w ON w.session_id = f.session_id
     WHERE f.team_id = ? AND f.repo_key = ? AND f.name = ? AND w.started_at IS NOT NULL ORDER BY f.session_id, f.path`,
  ),
  // All by trace_session_edits_by_session.
  edits: db.prepare<[number], EditRow>(`SELECT ${EDIT} FROM trace_session_edits WHERE session_id = ? ORDER BY id`),
  // SQLite takes the other columns from the row that has the maximum.
  lastEdits: db.prepare<[number], { path: string; spanId: string; at: number | null }>(
    "SELECT path, span_id AS spanId, max(at) AS at FROM trace_session_edits WHERE session_id = ? GROUP BY path ORDER BY path",
  ),
  editRepo: db.prepare<[string, number]>("UPDATE trace_session_edits SET repo_key = ? WHERE session_id = ?"),
  putEdit: db.prepare(
    `INSERT INTO trace_session_edits (team_id, repo_key, path, name, at, session_id, span_id, start_line, end_line, shift, commit_sha)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ),
  dropEdit: db.prepare<[number]>("DELETE FROM trace_session_edits WHERE id = ?"),
  // By trace_session_edits_by_name, from its end; what has no time comes last.
  editsNamed: db.prepare<[string, string, number], LineEditRow>(
    `SELECT ${EDIT}, session_id AS sessionId, repo_key AS repoKey FROM trace_session_edits
     WHERE team_id = ? AND name = ? ORDER BY at DESC, id DESC LIMIT ?`,
  ),
}));
