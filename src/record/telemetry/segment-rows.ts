import { statements } from "../../platform/store/store.ts";

/** Where entries lie: those of one delivery to one stream whose numbers are not interleaved with others'. */
export interface SegmentFacts {
  /** The number of its first entry; those of the others follow, in the order of seq. */
  readonly firstId: number;
  readonly streamId: number;
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly entries: number;
  readonly deliveryId: number;
}

export interface SegmentRow extends SegmentFacts {
  /** The block that the texts lie in, and from which byte on; null before it is sealed. */
  readonly blockId: number | null;
  readonly blockAt: number | null;
  /** Length of the texts. */
  readonly bytes: number;
  /** Null once they lie in a block. */
  readonly texts: Buffer | null;
}

/** A segment with what its stream says of it. */
export interface OwnedSegmentRow extends SegmentRow {
  /** Null where the stream is gone. */
  readonly teamId: string | null;
  readonly deviceId: string;
  readonly repoKey: string;
}

const FACTS =
  "first_id AS firstId, stream_id AS streamId, first_seq AS firstSeq, last_seq AS lastSeq, entries, delivery_id AS deliveryId";
export const SEGMENT = `${FACTS}, block_id AS blockId, block_at AS blockAt, bytes, texts`;
/** Before entries were kept together, each had a row: read as a segment of its own. */
const SINGLE_ENTRIES = `SELECT id AS first_id, stream_id, seq AS first_seq, seq AS last_seq, 1 AS entries, delivery_id, NULL AS block_id, NULL AS block_at,
  CAST(seq || char(0) || coalesce(client_timestamp, '') || char(0) || payload || char(0) AS BLOB) AS texts FROM telemetry_entries`;

export const segmentRows = statements((db, has) => {
  const isOlder = !has("telemetry_segments", "first_id");
  const any = isOlder ? `(SELECT *, length(texts) AS bytes FROM (${SINGLE_ENTRIES}))` : "telemetry_segments";
  return {
    insert: db.prepare<
      [number, number, number, number, number, number, number | null, number | null, number, Buffer | null]
    >(
      `INSERT INTO telemetry_segments (first_id, stream_id, first_seq, last_seq, entries, delivery_id, block_id, block_at, bytes, texts)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    remove: db.prepare<[number]>("DELETE FROM telemetry_segments WHERE first_id = ?"),
    // All by the primary key.
    factsFrom: db.prepare<[number], SegmentFacts>(
      `SELECT ${FACTS} FROM telemetry_segments WHERE first_id <= ? ORDER BY first_id DESC LIMIT 1`,
    ),
    factsAfter: db.prepare<[number], SegmentFacts>(
      `SELECT ${FACTS} FROM telemetry_segments WHERE first_id > ? ORDER BY first_id LIMIT 1`,
    ),
    segment: db.prepare<[number], SegmentRow>(`SELECT ${SEGMENT} FROM telemetry_segments WHERE first_id = ?`),
    nextId: db
      .prepare<[], number>("SELECT first_id + entries FROM telemetry_segments ORDER BY first_id DESC LIMIT 1")
      .pluck(),
    // By primary keys; streams by theirs.
    ownedFrom: db.prepare<[number], OwnedSegmentRow>(
      `SELECT ${SEGMENT}, s.team_id AS teamId, s.device_id AS deviceId, s.repo_key AS repoKey
       FROM telemetry_segments g LEFT JOIN telemetry_streams s ON s.id = g.stream_id WHERE first_id >= ? ORDER BY first_id`,
    ),
    // All by telemetry_segments_by_seq.
    ofStreamFrom: db.prepare<[number, number], SegmentRow>(
      `SELECT ${SEGMENT} FROM telemetry_segments WHERE stream_id = ? AND first_seq <= ? ORDER BY first_seq DESC LIMIT 1`,
    ),
    ofStreamAfter: db.prepare<[number, number], SegmentRow>(
      `SELECT ${SEGMENT} FROM telemetry_segments WHERE stream_id = ? AND first_seq > ? ORDER BY first_seq LIMIT 1`,
    ),
    rangeFrom: db.prepare<[number, number], Pick<SegmentRow, "lastSeq" | "blockId" | "bytes">>(
      `SELECT last_seq AS lastSeq, block_id AS blockId, bytes FROM telemetry_segments WHERE stream_id = ? AND first_seq <= ?
       ORDER BY first_seq DESC LIMIT 1`,
    ),
    nextSeq: db
      .prepare<[number, number], number>(
        "SELECT first_seq FROM telemetry_segments WHERE stream_id = ? AND first_seq > ? ORDER BY first_seq LIMIT 1",
      )
      .pluck(),
    // By the primary key.
    block: db.prepare<[number], Buffer>("SELECT content FROM telemetry_blocks WHERE id = ?").pluck(),
    // Both by telemetry_segments_unsealed.
    unsealedStream: db.prepare<[number], { streamId: number; updatedAt: number }>(
      `SELECT stream_id AS streamId, (SELECT updated_at FROM telemetry_streams WHERE id = stream_id) AS updatedAt
       FROM telemetry_segments WHERE block_id IS NULL AND stream_id > ? ORDER BY stream_id LIMIT 1`,
    ),
    unsealed: db.prepare<[number], Pick<SegmentRow, "firstId" | "entries" | "bytes">>(
      "SELECT first_id AS firstId, entries, bytes FROM telemetry_segments WHERE stream_id = ? AND block_id IS NULL ORDER BY first_seq",
    ),
    insertBlock: db.prepare<[number, Buffer]>("INSERT INTO telemetry_blocks (stream_id, content) VALUES (?, ?)"),
    // In the order of ids, which is the order of deliveries.
    all: db.prepare<[], SegmentRow>(`SELECT ${SEGMENT} FROM ${any} ORDER BY first_id`),
    // Segments of a block that says that it is another stream's. The lake goes by what blocks say.
    misplaced: db.prepare<[], { deliveryId: number; blockId: number; streamId: number }>(
      isOlder
        ? "SELECT 0, 0, 0 WHERE 0"
        : `SELECT min(g.delivery_id) AS deliveryId, b.id AS blockId, b.stream_id AS streamId
           FROM telemetry_segments g JOIN telemetry_blocks b ON b.id = g.block_id WHERE b.stream_id <> g.stream_id GROUP BY b.id`,
    ),
    // Segments that have texts beside those in their block, which are what everything reads.
    doubled: db.prepare<[], { firstId: number; deliveryId: number }>(
      isOlder
        ? "SELECT 0, 0 WHERE 0"
        : `SELECT first_id AS firstId, delivery_id AS deliveryId FROM telemetry_segments
           WHERE block_id IS NOT NULL AND texts IS NOT NULL`,
    ),
    // Blocks in which no entry lies. By telemetry_segments_by_block.
    unused: db
      .prepare<[], number>(
        isOlder
          ? "SELECT 0 WHERE 0"
          : "SELECT id FROM telemetry_blocks b WHERE NOT EXISTS (SELECT 1 FROM telemetry_segments WHERE block_id = b.id)",
      )
      .pluck(),
    // Streams whose highest number is not that of their last entry, which is found by telemetry_segments_by_seq, from its end.
    streamsAstray: db.prepare<[], { id: number; maxSeq: number; storedSeq: number; deliveryId: number }>(
      `SELECT s.id, s.max_seq AS maxSeq, coalesce(g.last_seq, 0) AS storedSeq, coalesce(g.delivery_id, 0) AS deliveryId
       FROM telemetry_streams s LEFT JOIN ${any} g
         ON g.stream_id = s.id AND g.first_seq = (SELECT max(first_seq) FROM ${any} WHERE stream_id = s.id)
       WHERE s.max_seq <> coalesce(g.last_seq, 0)`,
    ),
  };
});
