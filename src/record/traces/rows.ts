import { statements } from "../../platform/store/store.ts";
import { DOCUMENT_BYTES, type DocumentPlace, documentPlace, SPAN } from "./document-rows.ts";
import type { LabelFacts, SessionFacts, SpanFacts } from "./rules.ts";

export interface SessionRow extends SessionFacts {
  readonly externalId: string;
  readonly teamId: string;
  readonly deviceId: string;
  readonly repoKey: string;
  readonly document: string;
  readonly deliveryId: number;
  readonly item: number;
  readonly now: number;
  /** 1 where whoever exports it tells it in pieces; 0 where it is told as a whole. */
  readonly exported: 0 | 1;
}

/** How much is stored of something. */
interface StoredBytes {
  readonly externalId: string;
  readonly bytes: number;
}

/** As which item of which delivery something is stored; null where that delivery had no items. */
interface StoredAs {
  readonly deliveryId: number;
  readonly item: number | null;
}

/** What is stored of a span. */
export interface StoredSpan extends StoredAs {
  readonly document: string;
}

export interface StoredSession extends StoredSpan {
  readonly id: number;
  readonly repoKey: string;
}

/** What an item is made of, and what of it stands in columns. */
export interface SessionItemRow extends Omit<SessionFacts, "externalId" | "userEmail"> {
  /** Absent in a database from before the column. */
  readonly userEmail?: string | null;
  readonly externalId: string;
  readonly document: string;
}
export interface SpanItemRow extends Omit<SpanFacts, "externalId">, DocumentPlace {
  readonly sessionId: string;
  readonly externalId: string;
}
export interface LabelItemRow extends LabelFacts {
  readonly document: string;
}

/** An item of a delivery, and the repository that it stands in now. */
interface ItemOf {
  readonly item: number;
  readonly repoKey: string;
}

/** The place of an item among those of its delivery, and its row. */
export interface PlacedRow {
  readonly id: number;
  readonly deliveryId: number;
  readonly item: number;
}

/** In their places: there are many spans, and names would have to be looked up for each. */
type SpanValues = [
  parentId: string | null,
  name: string | null,
  kind: string | null,
  startedAt: number | null,
  endedAt: number | null,
  document: string,
  deliveryId: number,
  item: number,
  signs: number,
  sessionId: number,
  externalId: string,
];

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
  readonly item: number;
}

/** A session, span or label, and whose it is. */
export interface OwnerRow {
  readonly id: number;
  readonly deliveryId: number;
  readonly teamId: string | null;
  readonly deviceId: string | null;
  readonly repoKey: string | null;
  /** Null for what was delivered before there were items. */
  readonly item: number | null;
}

/** A session that was only exported, of agents or model calls. */
export interface ExportedWork {
  readonly externalId: string;
  readonly hasCalls: 0 | 1;
}

export const rows = statements((db, has) => {
  const place = documentPlace(has("trace_spans", "block_id"));
  const item = (table: string) => (has(table, "item") ? "item" : "NULL AS item");
  const placed = (table: string) =>
    db.prepare<[], PlacedRow>(
      has(table, "item")
        ? `SELECT id, delivery_id AS deliveryId, item FROM ${table} WHERE item IS NOT NULL ORDER BY delivery_id, item`
        : "SELECT 0 AS id, 0 AS deliveryId, 0 AS item WHERE 0",
    );
  const ofBlocks = <T>(sql: string) => db.prepare<[], T>(has("trace_spans", "block_id") ? sql : "SELECT 0, 0 WHERE 0");
  return {
    // Spans that lie in a block which says that it is another session's, or that it has others. Erasing goes by what blocks say.
    misplaced: ofBlocks<{ deliveryId: number; blockId: number }>(
      `SELECT min(s.delivery_id) AS deliveryId, s.block_id AS blockId FROM trace_spans s JOIN trace_span_blocks b ON b.id = s.block_id
       WHERE b.session_id <> s.session_id OR s.id NOT BETWEEN b.first_span AND b.last_span GROUP BY s.block_id`,
    ),
    // Blocks in which no span lies, but for those that are to be sealed anew. By trace_spans_by_arrival.
    unused: ofBlocks<number>(
      `SELECT id FROM trace_span_blocks b WHERE NOT replaced AND NOT EXISTS (
         SELECT 1 FROM trace_spans s WHERE s.session_id = b.session_id AND s.id BETWEEN b.first_span AND b.last_span AND s.block_id = b.id)`,
    ).pluck(),
    // Spans whose row has a document beside the one in their block, which is what everything reads.
    doubled: ofBlocks<{ id: number; deliveryId: number }>(
      "SELECT id, delivery_id AS deliveryId FROM trace_spans WHERE block_id IS NOT NULL AND document <> ''",
    ),
    // By trace_sessions' unique index (device_id, external_id).
    session: db.prepare<[string, string], StoredSession>(
      `SELECT id, repo_key AS repoKey, document, delivery_id AS deliveryId, ${item("trace_sessions")}
     FROM trace_sessions WHERE device_id = ? AND external_id = ?`,
    ),
    // By the same index.
    sessionBytes: db.prepare<[{ deviceId: string; sent: string }], StoredBytes & { readonly id: number }>(
      `SELECT t.id, t.external_id AS externalId, octet_length(t.document) AS bytes
       FROM json_each(@sent) sent CROSS JOIN trace_sessions t WHERE t.device_id = @deviceId AND t.external_id = sent.value`,
    ),
    // By the same index, and within a session by trace_spans_by_session.
    exportedWork: db.prepare<[{ deviceId: string; sent: string }], ExportedWork>(
      `SELECT t.external_id AS externalId, EXISTS (SELECT 1 FROM trace_spans s WHERE s.session_id = t.id AND s.kind = 'llm') AS hasCalls
       FROM json_each(@sent) sent CROSS JOIN trace_sessions t
       WHERE t.device_id = @deviceId AND t.external_id = sent.value AND t.exported > 0
         AND EXISTS (SELECT 1 FROM trace_spans s WHERE s.session_id = t.id AND s.kind IN ('llm', 'agent'))`,
    ),
    // By trace_spans_by_session.
    spanBytes: db.prepare<[{ sessionId: number; sent: string }], StoredBytes & { readonly blockId: number | null }>(
      `SELECT t.external_id AS externalId, ${DOCUMENT_BYTES} AS bytes, block_id AS blockId
       FROM json_each(@sent) sent CROSS JOIN trace_spans t WHERE t.session_id = @sessionId AND t.external_id = sent.value`,
    ),
    // Looks by trace_sessions_by_name whether another device tells of it.
    insertSession: db.prepare<[SessionRow]>(
      `INSERT INTO trace_sessions (team_id, device_id, repo_key, external_id, outcome, agent, model, branch, started_at, ended_at, user_email, document, delivery_id, item, created_at, updated_at, unsealed_since, exported)
     VALUES (@teamId, @deviceId, @repoKey, @externalId, @outcome, @agent, @model, @branch, @startedAt, @endedAt, @userEmail, @document, @deliveryId, @item, @now, @now, @now,
       iif(@exported AND EXISTS (SELECT 1 FROM trace_sessions WHERE team_id = @teamId AND external_id = @externalId AND exported = 0), 2, @exported))`,
    ),
    updateSession: db.prepare<[SessionRow]>(
      `UPDATE trace_sessions SET repo_key = @repoKey, outcome = @outcome, agent = @agent, model = @model, branch = @branch, started_at = @startedAt,
       ended_at = @endedAt, user_email = @userEmail, document = @document, delivery_id = @deliveryId, item = @item, updated_at = @now,
       unsealed_since = coalesce(unsealed_since, @now), exported = iif(@exported, exported, 0) WHERE device_id = @deviceId AND external_id = @externalId`,
    ),
    // By trace_spans_by_session.
    span: db.prepare<[number, string], StoredAs & DocumentPlace>(
      `SELECT ${place}, delivery_id AS deliveryId, ${item("trace_spans")} FROM trace_spans WHERE session_id = ? AND external_id = ?`,
    ),
    // By trace_spans_by_session. Two statements, because SQLite copies every page that one which may do either changes.
    insertSpan: db.prepare<SpanValues>(
      `INSERT INTO trace_spans (parent_id, name, kind, started_at, ended_at, document, delivery_id, item, signs, session_id, external_id)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    replaceSpan: db.prepare<SpanValues>(
      `UPDATE trace_spans SET parent_id = ?, name = ?, kind = ?, started_at = ?, ended_at = ?, document = ?, delivery_id = ?, item = ?, signs = ?,
       block_id = NULL, block_at = NULL, bytes = NULL WHERE session_id = ? AND external_id = ?`,
    ),
    // By trace_labels' unique index (device_id, repo_key, content_sha256).
    hasLabel: db
      .prepare<[string, string, Buffer], number>(
        "SELECT 1 FROM trace_labels WHERE device_id = ? AND repo_key = ? AND content_sha256 = ?",
      )
      .pluck(),
    insertLabel: db.prepare<[LabelRow]>(
      `INSERT INTO trace_labels (team_id, device_id, repo_key, session_id, span_id, name, document, content_sha256, delivery_id, item)
     VALUES (@teamId, @deviceId, @repoKey, @sessionId, @spanId, @name, @document, @contentSha256, @deliveryId, @item)`,
    ),
    // Walks of the tables; the texts, which may be large, are read by primary key.
    placed: {
      session: placed("trace_sessions"),
      span: placed("trace_spans"),
      label: placed("trace_labels"),
    },
    // By primary keys, and by the tables' indexes of deliveries.
    lastOf: db.prepare<[number], { deliveryId: number; item: number | null; externalId: string }>(
      `SELECT delivery_id AS deliveryId, ${item("trace_sessions")}, external_id AS externalId FROM trace_sessions WHERE id = ?`,
    ),
    sessionsOf: db.prepare<[number], ItemOf & { externalId: string; document: string }>(
      "SELECT item, repo_key AS repoKey, external_id AS externalId, document FROM trace_sessions WHERE delivery_id = ? AND item IS NOT NULL",
    ),
    spansOf: db.prepare<[number], ItemOf & DocumentPlace & { sessionId: string; externalId: string }>(
      `SELECT s.repo_key AS repoKey, s.external_id AS sessionId, p.*
       FROM (SELECT item, session_id, external_id AS externalId, ${place} FROM trace_spans WHERE delivery_id = ? AND item IS NOT NULL) p
         CROSS JOIN trace_sessions s ON s.id = p.session_id ORDER BY p.item`,
    ),
    labelsOf: db.prepare<[number], ItemOf & { document: string }>(
      "SELECT item, repo_key AS repoKey, document FROM trace_labels WHERE delivery_id = ? AND item IS NOT NULL",
    ),
    sessionItem: db.prepare<[number], SessionItemRow>(
      `SELECT external_id AS externalId, document, outcome, agent, model, branch, started_at AS startedAt, ended_at AS endedAt
       ${has("trace_sessions", "user_email") ? ", user_email AS userEmail" : ""} FROM trace_sessions WHERE id = ?`,
    ),
    spanItem: db.prepare<[number], SpanItemRow>(
      `SELECT s.external_id AS sessionId, p.*
       FROM (SELECT session_id, ${SPAN},
         ${place} FROM trace_spans WHERE id = ?) p JOIN trace_sessions s ON s.id = p.session_id`,
    ),
    labelItem: db.prepare<[number], LabelItemRow>(
      "SELECT document, session_id AS sessionId, span_id AS spanId, name FROM trace_labels WHERE id = ?",
    ),
    // Walks of the tables; sessions by primary key.
    sessionOwners: db.prepare<[], OwnerRow>(
      `SELECT id, delivery_id AS deliveryId, team_id AS teamId, device_id AS deviceId, repo_key AS repoKey, ${item("trace_sessions")} FROM trace_sessions`,
    ),
    // What is null belongs to a session that is gone.
    spanOwners: db.prepare<[], OwnerRow>(
      `SELECT p.id, p.delivery_id AS deliveryId, s.team_id AS teamId, s.device_id AS deviceId, s.repo_key AS repoKey,
       ${has("trace_spans", "item") ? "p.item" : "NULL AS item"}
     FROM trace_spans p LEFT JOIN trace_sessions s ON s.id = p.session_id`,
    ),
    labelOwners: db.prepare<[], OwnerRow>(
      `SELECT id, delivery_id AS deliveryId, team_id AS teamId, device_id AS deviceId, repo_key AS repoKey, ${item("trace_labels")} FROM trace_labels`,
    ),
    labelContents: db.prepare<[], { id: number; deliveryId: number; document: string; contentSha256: Buffer }>(
      "SELECT id, delivery_id AS deliveryId, document, content_sha256 AS contentSha256 FROM trace_labels",
    ),
  };
});
