import { statements } from "../../platform/store/store.ts";
import type { Gap } from "./rules.ts";

/** An entry as it is stored. */
export interface StoredEntry {
  readonly id: number;
  readonly streamId: number;
  readonly seq: number;
  readonly deliveryId: number;
  readonly clientTimestamp: string | null;
  readonly payload: string;
}

/** What the ledger says of the delivery that brought an entry. */
export interface DeliveryFacts {
  readonly deviceId: string;
  readonly repoKey: string;
  readonly receivedAt: number;
  readonly flagged: "gap" | "rollback" | null;
}

export interface DeliveryStep extends DeliveryFacts {
  readonly id: number;
  readonly kind: "telemetry" | "brain" | "traces";
  readonly items: number;
}

export interface StreamFacts {
  readonly id: number;
  readonly deviceId: string;
  readonly deviceLabel: string | null;
  readonly repoKey: string;
  readonly maxSeq: number;
  readonly entryCount: number;
  readonly conflictCount: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** An entry that contradicts the one stored under its seq. */
export interface ConflictRow {
  readonly id: number;
  readonly streamId: number;
  readonly deviceId: string;
  readonly deviceLabel: string | null;
  readonly repoKey: string;
  readonly seq: number;
  readonly receivedAt: number;
  readonly clientTimestamp: string | null;
  readonly payload: string;
  /** What is stored under the seq; null when it is gone. */
  readonly heldPayload: string | null;
  readonly heldClientTimestamp: string | null;
  readonly heldReceivedAt: number | null;
}

export interface DeviceTotals {
  readonly deviceId: string;
  readonly streams: number;
  readonly entries: number;
  readonly conflicts: number;
  /** Sequence numbers that never arrived. */
  readonly missing: number;
}

const ENTRY = "id, stream_id AS streamId, seq, delivery_id AS deliveryId, client_timestamp AS clientTimestamp, payload";
const DELIVERY =
  "id, kind, items, device_id AS deviceId, repo_key AS repoKey, received_at AS receivedAt, flagged FROM deliveries";
const IN_STREAM = `SELECT e.id, e.stream_id AS streamId, e.seq, e.delivery_id AS deliveryId, e.client_timestamp AS clientTimestamp, e.payload,
    l.device_id AS deviceId, l.repo_key AS repoKey, l.received_at AS receivedAt, l.flagged
  FROM telemetry_entries e CROSS JOIN deliveries l ON l.id = e.delivery_id`;

export const browseRows = statements((db) => ({
  // Both by telemetry_streams_by_team, the first from its end; devices by primary key.
  streams: db.prepare<[{ teamId: string; deviceId: string | null; most: number }], StreamFacts>(
    `SELECT s.id, s.device_id AS deviceId, d.label AS deviceLabel, s.repo_key AS repoKey, s.max_seq AS maxSeq, s.entry_count AS entryCount,
       s.conflict_count AS conflictCount, s.created_at AS createdAt, s.updated_at AS updatedAt
     FROM telemetry_streams s CROSS JOIN devices d ON d.id = s.device_id
     WHERE s.team_id = @teamId AND (@deviceId IS NULL OR s.device_id = @deviceId)
     ORDER BY s.updated_at DESC, s.id DESC LIMIT @most`,
  ),
  repoKeys: db
    .prepare<[string, number], string>(
      "SELECT DISTINCT repo_key FROM telemetry_streams WHERE team_id = ? ORDER BY repo_key LIMIT ?",
    )
    .pluck(),
  // By the unique index (device_id, repo_key).
  stream: db
    .prepare<[string, string, string], number>(
      "SELECT id FROM telemetry_streams WHERE device_id = ? AND repo_key = ? AND team_id = ?",
    )
    .pluck(),
  // telemetry_streams_by_team, then telemetry_gaps' primary key for each.
  deviceTotals: db.prepare<[string], DeviceTotals>(
    `SELECT s.device_id AS deviceId, count(*) AS streams, sum(s.entry_count) AS entries, sum(s.conflict_count) AS conflicts,
       sum((SELECT coalesce(sum(g.to_seq - g.from_seq + 1), 0) FROM telemetry_gaps g WHERE g.stream_id = s.id)) AS missing
     FROM telemetry_streams s WHERE s.team_id = ? GROUP BY s.device_id`,
  ),
  // All three by telemetry_gaps' primary key (stream_id, from_seq).
  gaps: db.prepare<[number, number], Gap>(
    `SELECT from_seq AS "from", to_seq AS "to" FROM telemetry_gaps WHERE stream_id = ? ORDER BY from_seq LIMIT ?`,
  ),
  missing: db
    .prepare<[number], number>("SELECT coalesce(sum(to_seq - from_seq + 1), 0) FROM telemetry_gaps WHERE stream_id = ?")
    .pluck(),
  gapBelow: db.prepare<[number, number], Gap>(
    `SELECT from_seq AS "from", to_seq AS "to" FROM telemetry_gaps WHERE stream_id = ? AND from_seq < ? ORDER BY from_seq DESC LIMIT 1`,
  ),
  // By telemetry_conflicts' unique index (stream_id, seq, content_sha256).
  hasConflict: db
    .prepare<[number, number], number>("SELECT 1 FROM telemetry_conflicts WHERE stream_id = ? AND seq = ? LIMIT 1")
    .pluck(),
  // telemetry_streams_by_team; only streams with evidence are looked at further.
  streamsInConflict: db
    .prepare<[string, string | null, string | null, string | null, string | null], number>(
      `SELECT id FROM telemetry_streams WHERE team_id = ? AND conflict_count > 0
         AND (? IS NULL OR device_id = ?) AND (? IS NULL OR repo_key = ?)`,
    )
    .pluck(),
  // Both by telemetry_conflicts_by_stream.
  conflictsDown: db
    .prepare<[number, number, number], number>(
      "SELECT id FROM telemetry_conflicts WHERE stream_id = ? AND id < ? ORDER BY id DESC LIMIT ?",
    )
    .pluck(),
  conflictsUp: db
    .prepare<[number, number, number], number>(
      "SELECT id FROM telemetry_conflicts WHERE stream_id = ? AND id > ? ORDER BY id LIMIT ?",
    )
    .pluck(),
  // By primary keys, and telemetry_entries_by_seq for what is held.
  conflict: db.prepare<[number], ConflictRow>(
    `SELECT c.id, c.stream_id AS streamId, s.device_id AS deviceId, d.label AS deviceLabel, s.repo_key AS repoKey, c.seq,
       l.received_at AS receivedAt, c.client_timestamp AS clientTimestamp, c.payload,
       e.payload AS heldPayload, e.client_timestamp AS heldClientTimestamp, el.received_at AS heldReceivedAt
     FROM telemetry_conflicts c
     JOIN telemetry_streams s ON s.id = c.stream_id JOIN devices d ON d.id = s.device_id JOIN deliveries l ON l.id = c.delivery_id
     LEFT JOIN telemetry_entries e ON e.stream_id = c.stream_id AND e.seq = c.seq LEFT JOIN deliveries el ON el.id = e.delivery_id
     WHERE c.id = ?`,
  ),
  // By telemetry_conflicts' unique index (stream_id, seq, content_sha256).
  conflictsUnder: db
    .prepare<[number, number, number], number>(
      "SELECT id FROM telemetry_conflicts WHERE stream_id = ? AND seq = ? ORDER BY id LIMIT ?",
    )
    .pluck(),
  // By primary keys.
  entry: db.prepare<[number, string], StoredEntry & DeliveryFacts>(
    `${IN_STREAM} CROSS JOIN telemetry_streams s ON s.id = e.stream_id WHERE e.id = ? AND s.team_id = ?`,
  ),
  deviceLabel: db.prepare<[string], string | null>("SELECT label FROM devices WHERE id = ?").pluck(),

  // Both by deliveries_by_team.
  deliveriesDown: db.prepare<[string, number, number], DeliveryStep>(
    `SELECT ${DELIVERY} WHERE team_id = ? AND id <= ? ORDER BY id DESC LIMIT ?`,
  ),
  deliveriesUp: db.prepare<[string, number, number], DeliveryStep>(
    `SELECT ${DELIVERY} WHERE team_id = ? AND id >= ? ORDER BY id LIMIT ?`,
  ),
  // By the primary key.
  deliveryAtOrAfter: db.prepare<[number], { id: number; receivedAt: number }>(
    "SELECT id, received_at AS receivedAt FROM deliveries WHERE id >= ? ORDER BY id LIMIT 1",
  ),
  lastDelivery: db.prepare<[], number>("SELECT coalesce(max(id), 0) FROM deliveries").pluck(),

  // All by the primary key. Ids of entries rise with the ids of their deliveries.
  entryDown: db.prepare<[number], { id: number; deliveryId: number }>(
    "SELECT id, delivery_id AS deliveryId FROM telemetry_entries WHERE id <= ? ORDER BY id DESC LIMIT 1",
  ),
  entryUp: db.prepare<[number], { id: number; deliveryId: number }>(
    "SELECT id, delivery_id AS deliveryId FROM telemetry_entries WHERE id >= ? ORDER BY id LIMIT 1",
  ),
  entriesDown: db.prepare<[number, number], StoredEntry>(
    `SELECT ${ENTRY} FROM telemetry_entries WHERE id <= ? ORDER BY id DESC LIMIT ?`,
  ),
  entriesUp: db.prepare<[number, number], StoredEntry>(
    `SELECT ${ENTRY} FROM telemetry_entries WHERE id >= ? ORDER BY id LIMIT ?`,
  ),
  // Both by telemetry_entries_by_seq; deliveries by primary key.
  streamDown: db.prepare<[number, number, number], StoredEntry & DeliveryFacts>(
    `${IN_STREAM} WHERE e.stream_id = ? AND e.seq < ? ORDER BY e.seq DESC LIMIT ?`,
  ),
  streamUp: db.prepare<[number, number, number], StoredEntry & DeliveryFacts>(
    `${IN_STREAM} WHERE e.stream_id = ? AND e.seq > ? ORDER BY e.seq LIMIT ?`,
  ),
}));
