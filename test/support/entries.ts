import { zstdDecompressSync } from "node:zlib";
import type { Database } from "better-sqlite3";
import { unpack } from "../../src/record/telemetry/packed.ts";

/*
 * Entries of telemetry as rows of a table, `telemetry_entries`, which exists for one query, or one change, alone: its columns are
 * id, stream_id, seq, delivery_id, client_timestamp and payload.
 */

type EntryRow = [id: number, stream: number, seq: number, delivery: number, timestamp: string | null, payload: string];

/** A row of `telemetry_segments`, as far as it is read here. */
interface SegmentRow {
  readonly first_id: number;
  readonly stream_id: number;
  readonly delivery_id: number;
  readonly block_id: number | null;
  readonly block_at: number | null;
  readonly bytes: number;
  readonly texts: Buffer | null;
}

const isNamed = (sql: string) => /\btelemetry_entries\b/.test(sql);
const has = (db: Database, table: string) =>
  db.prepare("SELECT count(*) FROM main.sqlite_schema WHERE name = ?").pluck().get(table) === 1;

/** Lets a statement that names `telemetry_entries` find what segments hold; ends with `dropEntries`. */
export function layOutEntries(db: Database): void {
  db.exec(`CREATE TEMP TABLE telemetry_entries (id INTEGER PRIMARY KEY, stream_id INTEGER NOT NULL, seq INTEGER NOT NULL,
    delivery_id INTEGER NOT NULL, client_timestamp TEXT, payload TEXT NOT NULL)`);
  const insert = db.prepare("INSERT INTO temp.telemetry_entries VALUES (?, ?, ?, ?, ?, ?)");
  for (const row of entriesOf(db)) insert.run(...row);
  db.exec("CREATE INDEX temp.telemetry_entries_by_seq ON telemetry_entries (stream_id, seq)");
}

function dropEntries(db: Database): void {
  db.exec("DROP TABLE temp.telemetry_entries");
}

/** All entries, in the order of arrival. */
export function entriesOf(db: Database): EntryRow[] {
  const segments = db.prepare<[], SegmentRow>("SELECT * FROM main.telemetry_segments ORDER BY first_id").all();
  const block = db.prepare<[number], Buffer>("SELECT content FROM main.telemetry_blocks WHERE id = ?").pluck();
  // A block has the segments of one stream, which follow upon one another there.
  const opened = new Map<number, { id: number; content: Buffer }>();
  const open = (stream: number, id: number): Buffer => {
    const last = opened.get(stream);
    if (last?.id === id) return last.content;
    const content = zstdDecompressSync(block.get(id) as Buffer);
    opened.set(stream, { id, content });
    return content;
  };
  return segments.flatMap((segment) => {
    const { stream_id: stream, block_id: id, block_at: at } = segment;
    const texts: Buffer = segment.texts ?? open(stream, id ?? 0).subarray(at ?? 0, (at ?? 0) + segment.bytes);
    return unpack(texts).map(
      ({ seq, clientTimestamp, payload }, i): EntryRow => [
        segment.first_id + i,
        segment.stream_id,
        seq,
        segment.delivery_id,
        clientTimestamp,
        payload,
      ],
    );
  });
}

/** All spans, in the order of arrival: what stands in each, wherever its document lies. */
export function spansOf(db: Database): unknown[][] {
  const block = db.prepare<[unknown], Buffer>("SELECT content FROM trace_span_blocks WHERE id = ?").pluck();
  const spans = db.prepare<[], Record<string, unknown>>("SELECT * FROM trace_spans ORDER BY id").all();
  return spans.map(({ block_id: id, block_at: at, bytes, document, ...rest }) => {
    if (id === null) return [...Object.values(rest), document];
    const texts = zstdDecompressSync(block.get(id) as Buffer);
    return [...Object.values(rest), texts.subarray(Number(at), Number(at) + Number(bytes)).toString()];
  });
}

/** All contents of brains, in the order of arrival, wherever they lie. */
export function contentsOf(db: Database): unknown[][] {
  const block = db.prepare<[unknown], Buffer>("SELECT content FROM brain_blocks WHERE id = ?").pluck();
  const blobs = db.prepare<[], Record<string, unknown>>("SELECT * FROM brain_blobs ORDER BY id").all();
  return blobs.map(({ block_id: id, block_at: at, bytes, content, ...rest }) => {
    const texts = id === null ? undefined : zstdDecompressSync(block.get(id) as Buffer);
    return [...Object.values(rest), texts?.subarray(Number(at), Number(at) + Number(bytes)).toString() ?? content];
  });
}

/** Runs a query, which may name `telemetry_entries`. */
export function withEntries<T>(db: Database, sql: string, query: () => T): T {
  if (!isNamed(sql) || !has(db, "telemetry_segments")) return query();
  layOutEntries(db);
  try {
    return query();
  } finally {
    dropEntries(db);
  }
}

/** Runs statements, which may change `telemetry_entries`: each entry that is left afterwards has a segment of its own. */
export function alterEntries(db: Database, sql: string): void {
  if (!isNamed(sql) || !has(db, "telemetry_segments")) return void db.exec(sql);
  layOutEntries(db);
  db.exec(sql);
  db.exec(`DELETE FROM telemetry_segments; DELETE FROM telemetry_blocks;
    INSERT INTO telemetry_segments (first_id, stream_id, first_seq, last_seq, entries, delivery_id, bytes, texts)
    SELECT id, stream_id, seq, seq, 1, delivery_id, length(texts), texts FROM (SELECT *,
      CAST(seq || char(0) || coalesce(client_timestamp, '') || char(0) || payload || char(0) AS BLOB) AS texts FROM temp.telemetry_entries)`);
  dropEntries(db);
}
