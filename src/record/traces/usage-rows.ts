import { statements } from "../../platform/store/store.ts";

export interface MeteredSessionRow {
  readonly id: number;
  readonly teamId: string;
  readonly deviceId: string;
  readonly repoKey: string;
  readonly externalId: string;
  readonly model: string | null;
  readonly branch: string | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly createdAt: number;
  readonly document: string;
}

export interface MeteredSpanRow {
  readonly id: number;
  readonly externalId: string;
  readonly parentId: string | null;
  readonly name: string | null;
  readonly kind: string | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** Null when nothing in it could tell of usage. */
  readonly document: string | null;
}

export const usageRows = statements((db) => ({
  // By primary key.
  session: db.prepare<[number], MeteredSessionRow>(
    `SELECT id, team_id AS teamId, device_id AS deviceId, repo_key AS repoKey, external_id AS externalId, model, branch,
       started_at AS startedAt, ended_at AS endedAt, created_at AS createdAt, document FROM trace_sessions WHERE id = ?`,
  ),
  // By trace_sessions' unique index (device_id, external_id).
  place: db.prepare<[string, string], { model: string | null; branch: string | null }>(
    "SELECT model, branch FROM trace_sessions WHERE device_id = ? AND external_id = ?",
  ),
  // By trace_spans_by_session. Operations are needed of spans without usage too: a tool's span parts the calls around it.
  spans: db.prepare<[number, number, number], MeteredSpanRow>(
    `SELECT id, external_id AS externalId, parent_id AS parentId, name, kind, started_at AS startedAt, ended_at AS endedAt,
       CASE WHEN instr(document, 'usage') OR instr(document, 'gen_ai.operation.name') THEN document END AS document
     FROM trace_spans WHERE session_id = ? AND id > ? ORDER BY id LIMIT ?`,
  ),
}));
