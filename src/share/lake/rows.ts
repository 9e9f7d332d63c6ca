import { type Preparer, statements } from "../../platform/store/store.ts";

/** Where the lake is, and how far it is. */
export interface PlaceRow {
  readonly place: string;
  readonly shard: string;
  readonly lastBlock: number;
  readonly prices: string;
  /** All that was to be there at this instant is; null before the first time. */
  readonly currentAt: number | null;
}

export interface ObjectRow {
  readonly path: string;
  /** Null for what is not of a block. */
  readonly blockId: number | null;
  readonly rows: number;
  readonly bytes: number;
  readonly sourceSha256: Buffer | null;
}

/** A day of a team that is to be written, or written anew. */
export interface Mark {
  readonly kind: "spend" | "sessions" | "errors";
  readonly teamId: string;
  /** YYYY-MM-DD, within bounds, see `day.ts`. */
  readonly day: string;
  readonly version: number;
}

/** The places of the lake of a database, of any schema that has such; none where it never had one. */
export const lakesIn = (db: Preparer): string[] =>
  db.prepare<[], string>("SELECT trim(place) FROM lake_places").pluck().all();

const OBJECT = "SELECT path, block_id AS blockId, rows, bytes, source_sha256 AS sourceSha256 FROM lake_objects";

export const rows = statements((db) => ({
  // The only row.
  place: db.prepare<[], PlaceRow>(
    "SELECT place, shard, last_block AS lastBlock, prices, current_at AS currentAt FROM lake_places WHERE id = 1",
  ),
  putPlace: db.prepare<[string, string, string]>(
    `INSERT INTO lake_places (id, place, shard, last_block, prices, current_at) VALUES (1, ?, ?, 0, ?, NULL)
     ON CONFLICT (id) DO UPDATE SET place = excluded.place, last_block = 0, prices = excluded.prices, current_at = NULL`,
  ),
  setPrices: db.prepare<[string]>("UPDATE lake_places SET prices = ?"),
  setCurrent: db.prepare<[number]>("UPDATE lake_places SET current_at = ?"),
  setBlockBefore: db.prepare<[number]>("UPDATE lake_places SET last_block = min(last_block, ?)"),
  // Nothing where a repair has set it back meanwhile.
  advanceBlock: db.prepare<[number, number]>("UPDATE lake_places SET last_block = ? WHERE last_block = ?"),
  // By the primary key.
  note: db.prepare<[Omit<ObjectRow, "sourceSha256">]>(
    `INSERT INTO lake_objects (path, block_id, rows, bytes, written_at) VALUES (@path, @blockId, @rows, @bytes, NULL)
     ON CONFLICT (path) DO UPDATE SET block_id = excluded.block_id, rows = excluded.rows, bytes = excluded.bytes, written_at = NULL`,
  ),
  written: db.prepare<[number, Buffer | null, string]>(
    "UPDATE lake_objects SET written_at = ?, source_sha256 = ? WHERE path = ?",
  ),
  unwritten: db.prepare<[string]>("UPDATE lake_objects SET written_at = NULL, source_sha256 = NULL WHERE path = ?"),
  hasWritten: db.prepare<[], number>("SELECT 1 FROM lake_objects WHERE written_at IS NOT NULL LIMIT 1").pluck(),
  object: db.prepare<[string], ObjectRow>(`${OBJECT} WHERE path = ?`),
  drop: db.prepare<[string]>("DELETE FROM lake_objects WHERE path = ?"),
  // A range of the primary key: objects of a folder.
  within: db.prepare<[string, string], ObjectRow>(`${OBJECT} WHERE path >= ? AND path < ? ORDER BY path`),
  after: db.prepare<[string, number], ObjectRow & { writtenAt: number | null }>(
    `SELECT path, block_id AS blockId, rows, bytes, source_sha256 AS sourceSha256, written_at AS writtenAt FROM lake_objects
     WHERE path > ? ORDER BY path LIMIT ?`,
  ),
  dropObjects: db.prepare<[number]>("DELETE FROM lake_objects WHERE path IN (SELECT path FROM lake_objects LIMIT ?)"),
  // By lake_objects_by_block.
  ofBlock: db.prepare<[number], string>("SELECT path FROM lake_objects WHERE block_id = ?").pluck(),
  // By primary keys.
  gone: db.prepare<[number], number>("SELECT block_id FROM lake_gone ORDER BY block_id LIMIT ?").pluck(),
  dropGone: db.prepare<[number]>("DELETE FROM lake_gone WHERE block_id = ?"),
  marksAfter: db.prepare<[{ kind: string; teamId: string; day: string; count: number }], Mark>(
    `SELECT kind, team_id AS teamId, day, version FROM lake_marks WHERE (kind, team_id, day) > (@kind, @teamId, @day)
     ORDER BY kind, team_id, day LIMIT (SELECT @count)`,
  ),
  mark: db.prepare<[Omit<Mark, "version">]>(
    `INSERT INTO lake_marks (kind, team_id, day, version) VALUES (@kind, @teamId, @day, 1)
     ON CONFLICT (kind, team_id, day) DO UPDATE SET version = version + 1`,
  ),
  dropMark: db.prepare<[Mark]>(
    "DELETE FROM lake_marks WHERE kind = @kind AND team_id = @teamId AND day = @day AND version = @version",
  ),
  // Walks of tables that hold what is not done.
  countMarks: db.prepare<[], number>("SELECT count(*) FROM lake_marks").pluck(),
  countGone: db.prepare<[], number>("SELECT count(*) FROM lake_gone").pluck(),
}));
