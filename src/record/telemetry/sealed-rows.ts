import { statements } from "../../platform/store/store.ts";

/** A segment with where its texts begin. */
export interface PlacedSegment {
  readonly firstId: number;
  readonly deliveryId: number;
  readonly at: number;
  readonly bytes: number;
}

interface OpenSegment extends Omit<PlacedSegment, "at"> {
  readonly firstSeq: number;
  readonly texts: Buffer | null;
}

export interface StreamName {
  readonly streamId: number;
  readonly teamId: string;
  readonly deviceId: string;
  readonly repoKey: string;
}

/** Segments read at once where they are not sealed; each holds a delivery at most. */
const MAX_SEGMENTS = 50;
const STREAM =
  "SELECT id AS streamId, team_id AS teamId, device_id AS deviceId, repo_key AS repoKey FROM telemetry_streams";

export const sealedRows = statements((db) => ({
  // Both by the primary key; ids are never given twice.
  nextBlock: db.prepare<[number], number>("SELECT id FROM telemetry_blocks WHERE id > ? ORDER BY id LIMIT 1").pluck(),
  lastBlock: db.prepare<[], number | null>("SELECT max(id) FROM telemetry_blocks").pluck(),
  // By primary keys.
  streamOfBlock: db.prepare<[number], StreamName>(
    `${STREAM} WHERE id = (SELECT stream_id FROM telemetry_blocks WHERE id = ?)`,
  ),
  // By telemetry_segments_by_block.
  segmentsOfBlock: db.prepare<[number], PlacedSegment>(
    `SELECT first_id AS firstId, delivery_id AS deliveryId, block_at AS at, bytes FROM telemetry_segments
     WHERE block_id = ? ORDER BY block_at`,
  ),
  // By telemetry_streams_by_team.
  streamsOfTeam: db.prepare<[string], StreamName>(`${STREAM} WHERE team_id = ? ORDER BY id`),
  // By telemetry_segments_unsealed.
  openSegments: db.prepare<[number, number], OpenSegment>(
    `SELECT first_id AS firstId, delivery_id AS deliveryId, first_seq AS firstSeq, bytes, texts FROM telemetry_segments
     WHERE stream_id = ? AND block_id IS NULL AND first_seq > ? ORDER BY first_seq LIMIT ${MAX_SEGMENTS}`,
  ),
}));
