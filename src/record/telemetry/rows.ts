import { statements } from "../../platform/store/store.ts";
import type { Entry, Gap } from "./rules.ts";

export interface StreamRow {
  readonly id: number;
  readonly teamId: string;
  readonly maxSeq: number;
}

/** Evidence of a conflict, as it is stored. */
export interface StoredConflictRow extends Entry {
  /** Its place among the items of its delivery; null for what came before there were items. */
  readonly item: number | null;
  readonly id: number;
  readonly streamId: number;
  readonly deliveryId: number;
}

export const rows = statements((db, has) => ({
  // By telemetry_streams' unique index (device_id, repo_key).
  stream: db.prepare<[string, string], StreamRow>(
    "SELECT id, team_id AS teamId, max_seq AS maxSeq FROM telemetry_streams WHERE device_id = ? AND repo_key = ?",
  ),
  insertStream: db.prepare<[{ teamId: string; deviceId: string; repoKey: string; now: number }]>(
    `INSERT INTO telemetry_streams (team_id, device_id, repo_key, max_seq, entry_count, conflict_count, created_at, updated_at)
       VALUES (@teamId, @deviceId, @repoKey, 0, 0, 0, @now, @now)`,
  ),
  updateStream: db.prepare<[number, number, number, number, number]>(
    `UPDATE telemetry_streams SET max_seq = ?, entry_count = entry_count + ?, conflict_count = conflict_count + ?, updated_at = ? WHERE id = ?`,
  ),
  insertConflict: db.prepare<[number, number, number, string | null, string, Buffer, number]>(
    `INSERT INTO telemetry_conflicts (stream_id, seq, delivery_id, client_timestamp, payload, content_sha256, item) VALUES (?, ?, ?, ?, ?, ?, ?)`,
  ),
  // By the unique index (stream_id, seq, content_sha256).
  hasConflict: db
    .prepare<[number, number, Buffer], number>(
      "SELECT 1 FROM telemetry_conflicts WHERE stream_id = ? AND seq = ? AND content_sha256 = ?",
    )
    .pluck(),
  insertGap: db.prepare<[number, number, number]>(
    "INSERT INTO telemetry_gaps (stream_id, from_seq, to_seq) VALUES (?, ?, ?)",
  ),
  // By the primary key (stream_id, from_seq), downward from the seq.
  gapAround: db.prepare<[number, number, number], Gap>(
    `SELECT from_seq AS "from", to_seq AS "to" FROM telemetry_gaps WHERE stream_id = ? AND from_seq <= ? AND to_seq >= ? ORDER BY from_seq DESC LIMIT 1`,
  ),
  // By telemetry_conflicts_by_stream.
  conflictsOf: db.prepare<[number, number], StoredConflictRow>(
    `SELECT id, stream_id AS streamId, delivery_id AS deliveryId, seq, client_timestamp AS clientTimestamp, payload, item
     FROM telemetry_conflicts WHERE stream_id = ? AND delivery_id = ? ORDER BY id`,
  ),
  deleteGap: db.prepare<[number, number]>("DELETE FROM telemetry_gaps WHERE stream_id = ? AND from_seq = ?"),
  // In the order of ids, which is the order of deliveries.
  conflictsByDelivery: db.prepare<[], StoredConflictRow>(
    `SELECT id, stream_id AS streamId, delivery_id AS deliveryId, seq, client_timestamp AS clientTimestamp, payload, ${has("telemetry_conflicts", "item") ? "item" : "NULL AS item"}
       FROM telemetry_conflicts ORDER BY id`,
  ),
}));
