import type { Stretch } from "../../kit/erase-steps.ts";
import { statements } from "../../platform/store/store.ts";
import { SEGMENT, type SegmentFacts, type SegmentRow } from "./segment-rows.ts";

interface StreamQuery {
  readonly deviceId: string;
  /** Null for all. */
  readonly repoKey: string | null;
}

/** A stretch of a stream. */
interface StretchQuery extends Stretch<number> {
  readonly streamId: number;
}

interface ErasableConflict {
  readonly id: number;
  readonly deliveryId: number;
  readonly seq: number;
  readonly clientTimestamp: string | null;
  readonly payload: string;
  readonly item: number | null;
}

export const eraseRows = statements((db) => ({
  // By telemetry_streams' unique index (device_id, repo_key).
  streams: db
    .prepare<[StreamQuery], number>(
      "SELECT id FROM telemetry_streams WHERE device_id = @deviceId AND (@repoKey IS NULL OR repo_key = @repoKey) ORDER BY id",
    )
    .pluck(),
  // Both by telemetry_segments_by_seq.
  stretchEnd: db
    .prepare<[number, number], number>(
      "SELECT first_seq FROM telemetry_segments WHERE stream_id = ? AND first_seq > ? ORDER BY first_seq LIMIT 1 OFFSET 999",
    )
    .pluck(),
  segments: db.prepare<[StretchQuery], Pick<SegmentFacts, "firstId" | "entries" | "deliveryId">>(
    `SELECT first_id AS firstId, entries, delivery_id AS deliveryId FROM telemetry_segments
     WHERE stream_id = @streamId AND first_seq > @from AND (@to IS NULL OR first_seq <= @to) ORDER BY first_seq`,
  ),
  // By the primary key's range.
  within: db.prepare<[number, number], SegmentRow>(
    `SELECT ${SEGMENT} FROM telemetry_segments WHERE first_id BETWEEN ? AND ? ORDER BY first_id`,
  ),
  // By telemetry_segments_by_block.
  inBlock: db.prepare<[number, number], SegmentRow>(
    `SELECT ${SEGMENT} FROM telemetry_segments WHERE stream_id = ? AND block_id = ? ORDER BY block_at`,
  ),
  // By primary keys.
  setTexts: db.prepare<[Buffer, number, number]>(
    "UPDATE telemetry_segments SET texts = ?, bytes = ? WHERE first_id = ?",
  ),
  place: db.prepare<[number, number, number, number]>(
    "UPDATE telemetry_segments SET block_id = ?, block_at = ?, bytes = ? WHERE first_id = ?",
  ),
  dropBlock: db.prepare<[number]>("DELETE FROM telemetry_blocks WHERE id = ?"),
  countErased: db.prepare<[{ id: number; entries: number; conflicts: number }]>(
    `UPDATE telemetry_streams SET entry_count = max(0, entry_count - @entries), conflict_count = max(0, conflict_count - @conflicts)
     WHERE id = @id`,
  ),
  // By telemetry_conflicts_by_stream.
  conflicts: db.prepare<[number], { id: number; deliveryId: number }>(
    "SELECT id, delivery_id AS deliveryId FROM telemetry_conflicts WHERE stream_id = ? ORDER BY id",
  ),
  // Both by primary key.
  conflict: db.prepare<[number], ErasableConflict>(
    `SELECT id, delivery_id AS deliveryId, seq, client_timestamp AS clientTimestamp, payload, item FROM telemetry_conflicts
     WHERE id = ?`,
  ),
  dropConflict: db.prepare<[number]>("DELETE FROM telemetry_conflicts WHERE id = ?"),
}));
