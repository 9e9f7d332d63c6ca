import { statements } from "../../platform/store/store.ts";

/** A place in an index of two numbers. */
export interface Place {
  readonly streamId: number;
  readonly seq: number;
}

/** Of a part of the streams. */
export interface StreamSlice {
  /** The highest id; null where there is no stream any more. */
  readonly last: number | null;
  readonly streams: number;
  readonly entries: number;
}

/** Rows that are counted in one go. */
const SLICE_ROWS = 5_000;

/** All statements read bounded parts: rows are counted part by part. */
export const figureRows = statements((db) => {
  /** The place so many rows further on, and how many rows there are up to it. `from` names an index and its columns. */
  const walk = (table: string, seq: string, condition: string) => {
    const after = `FROM ${table} WHERE ${condition} AND (stream_id, ${seq}) > (@streamId, @seq) ORDER BY stream_id, ${seq}`;
    return {
      next: db.prepare<[Place], Place>(
        `SELECT stream_id AS streamId, ${seq} AS seq ${after} LIMIT 1 OFFSET ${SLICE_ROWS - 1}`,
      ),
      rest: db.prepare<[Place], number>(`SELECT count(*) FROM (SELECT 1 ${after} LIMIT ${SLICE_ROWS})`).pluck(),
    };
  };
  return {
    sliceRows: SLICE_ROWS,
    // By telemetry_gaps' primary key.
    gaps: walk("telemetry_gaps", "from_seq", "1"),
    // By telemetry_segments_unsealed.
    unsealed: walk("telemetry_segments", "first_seq", "block_id IS NULL"),
    // By the primary key.
    streamsAfter: db.prepare<[number], StreamSlice>(
      `SELECT max(id) AS last, count(*) AS streams, coalesce(sum(entry_count), 0) AS entries
       FROM (SELECT id, entry_count FROM telemetry_streams WHERE id > ? ORDER BY id LIMIT ${SLICE_ROWS})`,
    ),
  };
});
