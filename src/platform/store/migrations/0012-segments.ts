import type { Database } from "better-sqlite3";

interface EntryRow {
  readonly id: number;
  readonly streamId: number;
  readonly seq: number;
  readonly deliveryId: number;
  readonly text: Buffer;
}

const ROWS_A_STEP = 2_000;
/** Beyond these a segment ends, so that memory stays bounded whatever the database holds. */
const MAX_ENTRIES = 1_000;
const MAX_BYTES = 256 * 1024;

/**
 * Moves `telemetry_entries` into `telemetry_segments`, in the order of ids, which stay as they are. What was moved is deleted on the
 * way, so that its pages are used again and the file hardly grows. Call inside a transaction.
 * @param onProgress told how many of all entries are moved, after every step
 */
export function moveEntries(db: Database, onProgress: (done: number, all: number) => void): void {
  const all = db.prepare("SELECT count(*) FROM telemetry_entries").pluck().get() as number;
  const next = db.prepare<[number, number], EntryRow>(
    `SELECT id, stream_id AS streamId, seq, delivery_id AS deliveryId,
       CAST(seq || char(0) || coalesce(client_timestamp, '') || char(0) || payload || char(0) AS BLOB) AS text
     FROM telemetry_entries WHERE id > ? ORDER BY id LIMIT ?`,
  );
  const forget = db.prepare<[number]>("DELETE FROM telemetry_entries WHERE id <= ?");
  const mover = new Mover(db);
  let done = 0;
  let last = Number.MIN_SAFE_INTEGER;
  for (;;) {
    const rows = next.all(last, ROWS_A_STEP);
    if (rows.length === 0) break;
    for (const row of rows) mover.add(row);
    last = (rows.at(-1) as EntryRow).id;
    // Those of the segment that is still growing are asked for by their numbers.
    forget.run(mover.firstId - 1);
    done += rows.length;
    onProgress(done, all);
  }
  mover.finish();
  db.exec("DROP TABLE telemetry_entries");
}

/** Gathers entries as long as they make one segment. */
class Mover {
  readonly #insert;
  readonly #entryBetween;
  readonly #segmentBetween;
  #rows: EntryRow[] = [];
  #bytes = 0;

  constructor(db: Database) {
    this.#insert = db.prepare(
      `INSERT INTO telemetry_segments (first_id, stream_id, first_seq, last_seq, entries, delivery_id, bytes, texts)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    // By the unique index on stream and number of either table.
    this.#entryBetween = db.prepare<[number, number, number]>(
      "SELECT 1 FROM telemetry_entries WHERE stream_id = ? AND seq > ? AND seq < ? LIMIT 1",
    );
    this.#segmentBetween = db.prepare<[number, number, number]>(
      "SELECT 1 FROM telemetry_segments WHERE stream_id = ? AND first_seq > ? AND first_seq < ? LIMIT 1",
    );
  }

  /** The id of the first entry that is not in a segment yet. */
  get firstId(): number {
    return this.#rows[0]?.id as number;
  }

  add(row: EntryRow): void {
    const last = this.#rows.at(-1);
    if (last && !this.#follows(last, row)) this.finish();
    this.#rows.push(row);
    this.#bytes += row.text.length;
  }

  finish(): void {
    const [first] = this.#rows;
    if (!first) return;
    const { id, streamId, seq, deliveryId } = first;
    const last = this.#rows.at(-1) as EntryRow;
    const texts = Buffer.concat(
      this.#rows.map(({ text }) => text),
      this.#bytes,
    );
    this.#insert.run(id, streamId, seq, last.seq, this.#rows.length, deliveryId, this.#bytes, texts);
    this.#rows = [];
    this.#bytes = 0;
  }

  #follows(last: EntryRow, row: EntryRow): boolean {
    if (row.id !== last.id + 1 || row.streamId !== last.streamId || row.deliveryId !== last.deliveryId) return false;
    if (this.#rows.length >= MAX_ENTRIES || this.#bytes + row.text.length > MAX_BYTES) return false;
    if (row.seq === last.seq + 1) return true;
    const between = [row.streamId, last.seq, row.seq] as const;
    return row.seq > last.seq && !this.#entryBetween.get(...between) && !this.#segmentBetween.get(...between);
  }
}
