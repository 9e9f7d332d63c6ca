import { statements } from "../../platform/store/store.ts";
import type { Gap } from "./rules.ts";

export interface StreamFacts {
  readonly id: number;
  readonly deviceId: string;
  readonly repoKey: string;
  readonly maxSeq: number;
  readonly entryCount: number;
  readonly conflictCount: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** An entry that contradicts the one stored under its seq. */
export interface StoredConflict {
  readonly id: number;
  readonly streamId: number;
  readonly deviceId: string;
  readonly repoKey: string;
  readonly seq: number;
  readonly deliveryId: number;
  readonly clientTimestamp: string | null;
  readonly payload: string;
}

export interface DeviceTotals {
  readonly deviceId: string;
  readonly streams: number;
  readonly entries: number;
  readonly conflicts: number;
  /** Sequence numbers that never arrived. */
  readonly missing: number;
}

/** Which streams; null narrows nothing. */
interface StreamRange {
  readonly teamId: string;
  /** JSON array of keys. */
  readonly repoKeys: string | null;
  /** 1 for those alone that something is missing of, or contradicts. */
  readonly flawed: number;
  readonly most: number;
}

/** What is wrong in all streams of a team. */
export interface StreamFlaws {
  readonly gaps: number;
  /** Sequence numbers that never arrived. */
  readonly missing: number;
  /** Streams in which a number came again with other content. */
  readonly rollbacks: number;
}

/** Those of some devices. */
interface StreamsOf {
  readonly teamId: string;
  /** JSON array of ids. */
  readonly deviceIds: string;
  readonly most: number;
}

const STREAM = `SELECT s.id, device_id AS deviceId, repo_key AS repoKey, max_seq AS maxSeq, entry_count AS entryCount,
  conflict_count AS conflictCount, created_at AS createdAt, updated_at AS updatedAt`;
// By the unique index (device_id, repo_key) for each of them, and never by the team, which may have very many others: hence the plus.
const OF_DEVICES =
  "FROM json_each(@deviceIds) d CROSS JOIN telemetry_streams s ON s.device_id = d.value WHERE +team_id = @teamId";

export const browseRows = statements((db) => ({
  streamsOf: db.prepare<[StreamsOf], StreamFacts>(
    `${STREAM} ${OF_DEVICES} ORDER BY updated_at DESC, s.id DESC LIMIT @most`,
  ),
  repoKeysOf: db
    .prepare<[StreamsOf], string>(`SELECT DISTINCT repo_key ${OF_DEVICES} ORDER BY repo_key LIMIT @most`)
    .pluck(),
  // Both by telemetry_streams_by_team, the first from its end.
  streams: db.prepare<[StreamRange], StreamFacts>(
    `${STREAM}
     FROM telemetry_streams s WHERE team_id = @teamId AND (@repoKeys IS NULL OR repo_key IN (SELECT value FROM json_each(@repoKeys)))
       AND (@flawed = 0 OR conflict_count > 0 OR EXISTS (SELECT 1 FROM telemetry_gaps WHERE stream_id = s.id))
     ORDER BY updated_at DESC, id DESC LIMIT @most`,
  ),
  flaws: db.prepare<[{ teamId: string }], StreamFlaws>(
    `SELECT count(*) AS gaps, total(g.to_seq - g.from_seq + 1) AS missing,
       (SELECT count(*) FROM telemetry_streams WHERE team_id = @teamId AND conflict_count > 0) AS rollbacks
     FROM telemetry_streams s JOIN telemetry_gaps g ON g.stream_id = s.id WHERE s.team_id = @teamId`,
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
  // By the unique index (device_id, repo_key) for each device, then telemetry_gaps' primary key for each stream.
  deviceTotals: db.prepare<[string], DeviceTotals>(
    `SELECT s.device_id AS deviceId, count(*) AS streams, sum(s.entry_count) AS entries, sum(s.conflict_count) AS conflicts,
       total((SELECT total(g.to_seq - g.from_seq + 1) FROM telemetry_gaps g WHERE g.stream_id = s.id)) AS missing
     FROM telemetry_streams s WHERE s.device_id IN (SELECT value FROM json_each(?)) GROUP BY s.device_id`,
  ),
  // telemetry_streams_by_team.
  entriesByDevice: db.prepare<[{ teamId: string; repoKey: string | null }], { deviceId: string; entries: number }>(
    `SELECT device_id AS deviceId, sum(entry_count) AS entries FROM telemetry_streams
     WHERE team_id = @teamId AND (@repoKey IS NULL OR repo_key = @repoKey) GROUP BY device_id`,
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
  // By primary keys.
  conflict: db.prepare<[number], StoredConflict>(
    `SELECT c.id, c.stream_id AS streamId, s.device_id AS deviceId, s.repo_key AS repoKey, c.seq, c.delivery_id AS deliveryId,
       c.client_timestamp AS clientTimestamp, c.payload
     FROM telemetry_conflicts c JOIN telemetry_streams s ON s.id = c.stream_id WHERE c.id = ?`,
  ),
  // By telemetry_conflicts' unique index (stream_id, seq, content_sha256).
  conflictsUnder: db
    .prepare<[number, number, number], number>(
      "SELECT id FROM telemetry_conflicts WHERE stream_id = ? AND seq = ? ORDER BY id LIMIT ?",
    )
    .pluck(),
  // By the primary key.
  ownerOf: db.prepare<[number], { teamId: string; deviceId: string; repoKey: string }>(
    "SELECT team_id AS teamId, device_id AS deviceId, repo_key AS repoKey FROM telemetry_streams WHERE id = ?",
  ),
}));
