import { statements } from "../../platform/store/store.ts";
import { DOCUMENT_BYTES, type DocumentPlace, documentPlace, SPAN } from "./document-rows.ts";
import type { SpanFacts } from "./rules.ts";

/** A session of which spans lie in no block. */
export interface UnsealedSession {
  readonly id: number;
  /** That changed it last. */
  readonly deliveryId: number;
}

/** A range of spans. `blockId` names the block that they lie in, except for those that came anew; null where none lies in a block. */
export interface SpanRange {
  readonly sessionId: number;
  readonly blockId: number | null;
  readonly from: number;
  readonly to: number;
}

export interface SealedSpan extends Omit<SpanFacts, "externalId">, DocumentPlace {
  readonly id: number;
  readonly sessionId: number;
  readonly externalId: string;
  readonly deliveryId: number;
  readonly item: number | null;
  readonly signs: number | null;
}

/** What a span's row becomes. */
type Placed = Omit<SealedSpan, "plain">;

export const sealRows = statements((db) => ({
  // By trace_sessions_unsealed: the oldest, or where the clock was ahead, the newest.
  session: db.prepare<[{ before: number; after: number }], UnsealedSession>(
    `SELECT id, delivery_id AS deliveryId FROM trace_sessions WHERE unsealed_since <= @before
     UNION ALL SELECT id, delivery_id FROM trace_sessions WHERE unsealed_since >= @after LIMIT 1`,
  ),
  markSealed: db.prepare<[UnsealedSession & { now: number }]>(
    "UPDATE trace_sessions SET unsealed_since = iif(delivery_id = @deliveryId, NULL, @now) WHERE id = @id",
  ),
  // By trace_span_blocks_replaced.
  replaced: db.prepare<[number], SpanRange>(
    `SELECT session_id AS sessionId, id AS blockId, first_span AS "from", last_span AS "to" FROM trace_span_blocks
     WHERE session_id = ? AND replaced LIMIT 1`,
  ),
  // Within trace_span_blocks_by_session, from its end.
  lastSealed: db
    .prepare<[number], number | null>("SELECT max(last_span) FROM trace_span_blocks WHERE session_id = ?")
    .pluck(),
  // By trace_spans_by_arrival.
  unsealed: db.prepare<[SpanRange], { id: number; bytes: number }>(
    `SELECT id, ${DOCUMENT_BYTES} AS bytes FROM trace_spans
     WHERE session_id = @sessionId AND id BETWEEN @from AND @to AND (block_id IS NULL OR block_id = @blockId) ORDER BY id`,
  ),
  // All by primary keys.
  span: db.prepare<[number], SealedSpan>(
    `SELECT id, session_id AS sessionId, ${SPAN}, delivery_id AS deliveryId, item, signs, ${documentPlace()} FROM trace_spans WHERE id = ?`,
  ),
  putSpan: db.prepare<[Placed]>(
    `INSERT INTO trace_spans (id, session_id, external_id, parent_id, name, kind, started_at, ended_at, document, delivery_id, item, signs, block_id, block_at, bytes)
     VALUES (@id, @sessionId, @externalId, @parentId, @name, @kind, @startedAt, @endedAt, '', @deliveryId, @item, @signs, @blockId, @blockAt, @bytes)`,
  ),
  insertBlock: db.prepare<[sessionId: number, firstSpan: number, lastSpan: number, content: Buffer]>(
    "INSERT INTO trace_span_blocks (session_id, first_span, last_span, content) VALUES (?, ?, ?, ?)",
  ),
  shortenBlock: db.prepare<[firstSpan: number, id: number]>("UPDATE trace_span_blocks SET first_span = ? WHERE id = ?"),
  keepBlock: db.prepare<[number]>("UPDATE trace_span_blocks SET replaced = 0 WHERE id = ?"),
  dropBlock: db.prepare<[number]>("DELETE FROM trace_span_blocks WHERE id = ?"),
}));
