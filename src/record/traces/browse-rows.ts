import { statements } from "../../platform/store/store.ts";
import { DOCUMENT_BYTES, type DocumentPlace, documentPlace, SPAN } from "./document-rows.ts";
import type { SessionFacts, SpanFacts } from "./rules.ts";
import { USER_EMAIL } from "./twin-rows.ts";

export interface SessionListRow extends SessionFacts {
  readonly id: number;
  readonly externalId: string;
  readonly deviceId: string;
  readonly repoKey: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly deliveryId: number;
}

export interface SpanListRow extends SpanFacts {
  readonly id: number;
  readonly externalId: string;
  /** Of its document. */
  readonly bytes: number;
}

const SESSION = `SELECT id, external_id AS externalId, device_id AS deviceId, repo_key AS repoKey, outcome, agent, model, branch,
    started_at AS startedAt, ended_at AS endedAt, ${USER_EMAIL} AS userEmail, created_at AS createdAt, updated_at AS updatedAt, delivery_id AS deliveryId
  FROM trace_sessions`;

/** A span as it is stored. */
export interface StoredSpan extends SpanFacts {
  readonly id: number;
  readonly externalId: string;
  readonly document: string;
}

/** Sessions that hold a text, of some that were looked at. */
export interface HoldingRow {
  /** A JSON array of ids. */
  readonly found: string;
  /** Of all documents; null where there is none. */
  readonly bytes: number | null;
}

export const browseRows = statements((db) => {
  /** Walks of one index: sessions with a start on either side of a key, and those without one by id. */
  const walks = (where: string) => ({
    down: db.prepare<[...string[], number, number, number], SessionListRow>(
      `${SESSION} WHERE ${where} AND (started_at, id) < (?, ?) ORDER BY started_at DESC, id DESC LIMIT ?`,
    ),
    up: db.prepare<[...string[], number, number, number], SessionListRow>(
      `${SESSION} WHERE ${where} AND (started_at, id) > (?, ?) ORDER BY started_at, id LIMIT ?`,
    ),
    undatedDown: db.prepare<[...string[], number, number], SessionListRow>(
      `${SESSION} WHERE ${where} AND started_at IS NULL AND id < ? ORDER BY id DESC LIMIT ?`,
    ),
    undatedUp: db.prepare<[...string[], number, number], SessionListRow>(
      `${SESSION} WHERE ${where} AND started_at IS NULL AND id > ? ORDER BY id LIMIT ?`,
    ),
  });
  return {
    // By trace_sessions_recent.
    ofTeam: walks("team_id = ? AND exported < 2"),
    // By trace_sessions_by_team.
    ofRepo: walks("team_id = ? AND repo_key = ? AND exported < 2"),
    // By primary key.
    session: db.prepare<[number, string], SessionListRow>(`${SESSION} WHERE id = ? AND team_id = ?`),
    // By trace_sessions' unique index (device_id, external_id).
    sessionByExternalId: db
      .prepare<[string, string, string], number>(
        "SELECT id FROM trace_sessions WHERE device_id = ? AND external_id = ? AND team_id = ?",
      )
      .pluck(),
    documentBytes: db
      .prepare<[number], number>("SELECT octet_length(document) FROM trace_sessions WHERE id = ?")
      .pluck(),
    document: db.prepare<[number], string>("SELECT document FROM trace_sessions WHERE id = ?").pluck(),
    // By primary key, each of some. The end stands before the document, which is passed over for the last change.
    running: db
      .prepare<[string, number], number>(
        "SELECT id FROM trace_sessions WHERE id IN (SELECT value FROM json_each(?)) AND ended_at IS NULL AND updated_at > ?",
      )
      .pluck(),
    // By primary key, each of some. What is looked for, and how it begins, as `soughtWhole` makes them.
    holding: db.prepare<
      [Record<"a" | "aBegins", string> & Record<"b" | "bBegins", string | null> & { ids: string }],
      HoldingRow
    >(
      `SELECT sum(octet_length(document)) AS bytes, json_group_array(id) FILTER (
         WHERE (document LIKE @aBegins ESCAPE '\\' AND instr(lower(document), @a))
           OR (@b IS NOT NULL AND document LIKE @bBegins ESCAPE '\\' AND instr(lower(document), @b))) AS found
       FROM trace_sessions WHERE id IN (SELECT value FROM json_each(@ids))`,
    ),
    // Within trace_spans_by_arrival.
    spanCount: db.prepare<[number], number>("SELECT count(*) FROM trace_spans WHERE session_id = ?").pluck(),
    // Both by trace_labels_by_session.
    labelCount: db
      .prepare<[string, string], number>("SELECT count(*) FROM trace_labels WHERE device_id = ? AND session_id = ?")
      .pluck(),
    labels: db.prepare<[string, string, number], { spanId: string | null; name: string | null; document: string }>(
      `SELECT span_id AS spanId, name, document FROM trace_labels WHERE device_id = ? AND session_id = ? ORDER BY id LIMIT ?`,
    ),
    // Within trace_spans_by_arrival.
    spanIdsByStart: db
      .prepare<[sessionId: number, sorted: number, limit: number], number>(
        `SELECT id FROM (SELECT id, started_at FROM trace_spans WHERE session_id = ? ORDER BY id LIMIT ?)
         ORDER BY started_at IS NULL, started_at, id LIMIT ?`,
      )
      .pluck(),
    // By primary key; documents are read as far as there is room for them.
    spanRow: db.prepare<[number], SpanListRow>(
      `SELECT id, ${SPAN},
         ${DOCUMENT_BYTES} AS bytes
       FROM trace_spans WHERE id = ?`,
    ),
    // Within trace_spans_by_arrival.
    spanIds: db
      .prepare<[number, number, number], number>(
        "SELECT id FROM trace_spans WHERE session_id = ? AND id > ? ORDER BY id LIMIT ?",
      )
      .pluck(),
    // By primary key.
    span: db.prepare<[number], Omit<StoredSpan, "document"> & DocumentPlace>(
      `SELECT id, ${SPAN}, ${documentPlace()}
       FROM trace_spans WHERE id = ?`,
    ),
    spanDocument: db.prepare<[number], DocumentPlace>(`SELECT ${documentPlace()} FROM trace_spans WHERE id = ?`),
    // Spans within trace_spans_by_arrival.
    deliveries: db
      .prepare<[number, number, number], number>(
        `SELECT delivery_id FROM (SELECT delivery_id FROM trace_spans WHERE session_id = ? ORDER BY id DESC LIMIT 100000) UNION SELECT delivery_id FROM trace_sessions WHERE id = ?
         ORDER BY delivery_id DESC LIMIT ?`,
      )
      .pluck(),
  };
});
