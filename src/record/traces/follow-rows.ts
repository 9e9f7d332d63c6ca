import { statements } from "../../platform/store/store.ts";

export interface SessionSourceRow {
  readonly id: number;
  readonly teamId: string;
  readonly repoKey: string;
  readonly externalId: string;
  readonly agent: string | null;
  readonly model: string | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly document: string;
}

export interface SpanSourceRow {
  readonly id: number;
  readonly externalId: string;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly document: string;
}

export const followRows = statements((db) => ({
  // Both by trace_sessions_by_delivery.
  nextDelivery: db
    .prepare<[number], number>(
      "SELECT delivery_id FROM trace_sessions WHERE delivery_id > ? ORDER BY delivery_id LIMIT 1",
    )
    .pluck(),
  ofDelivery: db.prepare<[number], number>("SELECT id FROM trace_sessions WHERE delivery_id = ? ORDER BY id").pluck(),
  // Within trace_sessions_by_delivery alone.
  countAfter: db
    .prepare<[number, number], number>(
      "SELECT count(*) FROM (SELECT 1 FROM trace_sessions WHERE delivery_id > ? LIMIT ?)",
    )
    .pluck(),
  // By trace_sessions_by_delivery.
  between: db.prepare<[number, number], { id: number; teamId: string; repoKey: string }>(
    `SELECT id, team_id AS teamId, repo_key AS repoKey FROM trace_sessions WHERE delivery_id > ? AND delivery_id <= ?
     ORDER BY delivery_id, id`,
  ),
  // By primary key.
  session: db.prepare<[number], SessionSourceRow>(
    `SELECT id, team_id AS teamId, repo_key AS repoKey, external_id AS externalId, agent, model, started_at AS startedAt,
       ended_at AS endedAt, document FROM trace_sessions WHERE id = ?`,
  ),
  // Within trace_spans_by_session.
  spanTimes: db.prepare<[number], { first: number | null; last: number | null }>(
    `SELECT min(coalesce(started_at, ended_at)) AS first, max(coalesce(ended_at, started_at)) AS last
     FROM trace_spans WHERE session_id = ?`,
  ),
  // By trace_spans_by_session.
  spansNaming: db.prepare<[number, number, string, number], SpanSourceRow>(
    `SELECT id, external_id AS externalId, started_at AS startedAt, ended_at AS endedAt, document FROM trace_spans
     WHERE session_id = ? AND id > ? AND instr(document, ?) > 0 ORDER BY id LIMIT ?`,
  ),
}));
