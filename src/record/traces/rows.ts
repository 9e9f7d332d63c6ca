import { statements } from "../../platform/store/store.ts";
import type { SessionFacts, SpanFacts } from "./rules.ts";

export interface SessionRow extends SessionFacts {
  readonly externalId: string;
  readonly teamId: string;
  readonly deviceId: string;
  readonly repoKey: string;
  readonly document: string;
  readonly deliveryId: number;
  readonly now: number;
}

export interface SpanRow extends SpanFacts {
  readonly externalId: string;
  readonly sessionId: number;
  readonly document: string;
  readonly deliveryId: number;
}

export interface LabelRow {
  readonly teamId: string;
  readonly deviceId: string;
  readonly repoKey: string;
  readonly sessionId: string | null;
  readonly spanId: string | null;
  readonly name: string | null;
  readonly document: string;
  readonly contentSha256: Buffer;
  readonly deliveryId: number;
}

/** A session, span or label, and whose it is. */
export interface OwnerRow {
  readonly id: number;
  readonly deliveryId: number;
  readonly teamId: string | null;
  readonly deviceId: string | null;
  readonly repoKey: string | null;
}

export const rows = statements((db) => ({
  // By trace_sessions' unique index (device_id, external_id).
  session: db.prepare<[string, string], { id: number; repoKey: string; document: string }>(
    "SELECT id, repo_key AS repoKey, document FROM trace_sessions WHERE device_id = ? AND external_id = ?",
  ),
  insertSession: db.prepare<[SessionRow]>(
    `INSERT INTO trace_sessions (team_id, device_id, repo_key, external_id, outcome, agent, model, branch, started_at, ended_at, document, delivery_id, created_at, updated_at)
     VALUES (@teamId, @deviceId, @repoKey, @externalId, @outcome, @agent, @model, @branch, @startedAt, @endedAt, @document, @deliveryId, @now, @now)`,
  ),
  updateSession: db.prepare<[SessionRow]>(
    `UPDATE trace_sessions SET repo_key = @repoKey, outcome = @outcome, agent = @agent, model = @model, branch = @branch, started_at = @startedAt,
       ended_at = @endedAt, document = @document, delivery_id = @deliveryId, updated_at = @now WHERE device_id = @deviceId AND external_id = @externalId`,
  ),
  // By primary key.
  markSession: db.prepare<[number, number, number]>(
    "UPDATE trace_sessions SET delivery_id = ?, updated_at = ? WHERE id = ?",
  ),
  // By trace_spans_by_session.
  span: db
    .prepare<[number, string], string>("SELECT document FROM trace_spans WHERE session_id = ? AND external_id = ?")
    .pluck(),
  // By trace_spans_by_session; a span that came again unchanged is left alone.
  putSpan: db.prepare<[SpanRow]>(
    `INSERT INTO trace_spans (session_id, external_id, parent_id, name, kind, started_at, ended_at, document, delivery_id)
     VALUES (@sessionId, @externalId, @parentId, @name, @kind, @startedAt, @endedAt, @document, @deliveryId)
     ON CONFLICT (session_id, external_id) DO UPDATE SET parent_id = excluded.parent_id, name = excluded.name, kind = excluded.kind,
       started_at = excluded.started_at, ended_at = excluded.ended_at, document = excluded.document, delivery_id = excluded.delivery_id
     WHERE document <> excluded.document`,
  ),
  // By trace_labels' unique index (device_id, repo_key, content_sha256).
  putLabel: db.prepare<[LabelRow]>(
    `INSERT INTO trace_labels (team_id, device_id, repo_key, session_id, span_id, name, document, content_sha256, delivery_id)
     VALUES (@teamId, @deviceId, @repoKey, @sessionId, @spanId, @name, @document, @contentSha256, @deliveryId)
     ON CONFLICT (device_id, repo_key, content_sha256) DO NOTHING`,
  ),
  // Walks of the tables; sessions by primary key.
  sessionOwners: db.prepare<[], OwnerRow>(
    "SELECT id, delivery_id AS deliveryId, team_id AS teamId, device_id AS deviceId, repo_key AS repoKey FROM trace_sessions",
  ),
  // What is null belongs to a session that is gone.
  spanOwners: db.prepare<[], OwnerRow>(
    `SELECT p.id, p.delivery_id AS deliveryId, s.team_id AS teamId, s.device_id AS deviceId, s.repo_key AS repoKey
     FROM trace_spans p LEFT JOIN trace_sessions s ON s.id = p.session_id`,
  ),
  labelOwners: db.prepare<[], OwnerRow>(
    "SELECT id, delivery_id AS deliveryId, team_id AS teamId, device_id AS deviceId, repo_key AS repoKey FROM trace_labels",
  ),
  labelContents: db.prepare<[], { id: number; deliveryId: number; document: string; contentSha256: Buffer }>(
    "SELECT id, delivery_id AS deliveryId, document, content_sha256 AS contentSha256 FROM trace_labels",
  ),
}));
