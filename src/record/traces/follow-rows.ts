import { statements } from "../../platform/store/store.ts";
import { type DocumentPlace, documentPlace, SPAN } from "./document-rows.ts";
import type { SessionFacts, SpanFacts } from "./rules.ts";
import { USER_EMAIL } from "./twin-rows.ts";

export interface SessionSourceRow extends SessionFacts {
  readonly id: number;
  readonly teamId: string;
  readonly deviceId: string;
  readonly repoKey: string;
  readonly externalId: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** 2 where it was only exported, and told of as a whole on another device. */
  readonly exported: 0 | 1 | 2;
  readonly document: string;
}

export type SessionPlaceRow = Pick<SessionFacts, "model" | "branch" | "agent" | "userEmail">;

interface SpanSourceRow extends Pick<SpanFacts, "startedAt" | "endedAt">, DocumentPlace {
  readonly id: number;
  readonly externalId: string;
}

interface MeteredSpanRow extends SpanFacts, DocumentPlace {
  readonly id: number;
  readonly externalId: string;
  /** 0 when nothing in its document could tell of usage. */
  readonly mayTell: 0 | 1;
}

/** Some spans of a session that came one after another. */
export interface RangeRow {
  readonly spans: number;
  /** The last of them; null when none follows. */
  readonly upTo: number | null;
  /** When they began and ended, milliseconds since the epoch. */
  readonly first: number | null;
  readonly last: number | null;
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
    `SELECT id, team_id AS teamId, device_id AS deviceId, repo_key AS repoKey, external_id AS externalId, outcome, agent, model, branch,
       started_at AS startedAt, ended_at AS endedAt, ${USER_EMAIL} AS userEmail, created_at AS createdAt, updated_at AS updatedAt, exported, document FROM trace_sessions WHERE id = ?`,
  ),
  // Within trace_spans_by_arrival.
  range: db.prepare<[sessionId: number, after: number, limit: number], RangeRow>(
    `SELECT count(*) AS spans, max(id) AS upTo, min(coalesce(started_at, ended_at)) AS first, max(coalesce(ended_at, started_at)) AS last
     FROM (SELECT id, started_at, ended_at FROM trace_spans WHERE session_id = ? AND id > ? ORDER BY id LIMIT ?)`,
  ),
  // By trace_spans_by_arrival.
  signedSpans: db.prepare<
    [{ sessionId: number; after: number; upTo: number; sign: number; limit: number }],
    SpanSourceRow
  >(
    `SELECT id, external_id AS externalId, started_at AS startedAt, ended_at AS endedAt, ${documentPlace()} FROM trace_spans
     WHERE session_id = @sessionId AND id > @after AND id <= @upTo AND (signs IS NULL OR signs & @sign) ORDER BY id LIMIT @limit`,
  ),
  // By trace_sessions' unique index (device_id, external_id).
  place: db.prepare<[string, string], SessionPlaceRow>(
    `SELECT model, branch, agent, ${USER_EMAIL} AS userEmail FROM trace_sessions WHERE device_id = ? AND external_id = ?`,
  ),
  // By trace_spans_by_arrival.
  meteredSpans: db.prepare<[sign: number, sessionId: number, after: number, limit: number], MeteredSpanRow>(
    `SELECT id, ${SPAN},
       signs IS NULL OR (signs & ?) <> 0 AS mayTell, ${documentPlace()}
     FROM trace_spans WHERE session_id = ? AND id > ? ORDER BY id LIMIT ?`,
  ),
}));
