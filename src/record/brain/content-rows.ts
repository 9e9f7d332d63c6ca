import { statements } from "../../platform/store/store.ts";

/** Where a file's content lies: in its row, or, once it is sealed, as `bytes` from `blockAt` on of a block's texts. */
export interface ContentPlace {
  /** Empty where it is sealed or withheld. */
  readonly plain: string;
  readonly bytes: number;
  readonly blockId: number | null;
  readonly blockAt: number | null;
}

/** The columns of a `ContentPlace`. @param hasBlocks false for a database from before them */
export const contentPlace = (hasBlocks = true): string =>
  `bytes, content AS plain, ${hasBlocks ? "block_id AS blockId, block_at AS blockAt" : "NULL AS blockId, NULL AS blockAt"}`;

/** A content that is to be put elsewhere. */
export interface PlacedBlob extends ContentPlace {
  readonly id: number;
  readonly sha256: Buffer;
  readonly rulesVersion: string;
}

const UNSEALED = "block_id IS NULL AND withheld_sha256 IS NULL AND bytes > 0";

export const contentRows = statements((db) => ({
  // Both by brain_blobs_unsealed.
  teamAfter: db
    .prepare<[string], string>(
      `SELECT team_id FROM brain_blobs WHERE ${UNSEALED} AND team_id > ? ORDER BY team_id LIMIT 1`,
    )
    .pluck(),
  // What was altered to another length stays where it is, which verifying reports.
  unsealed: db.prepare<[string], { id: number; bytes: number }>(
    `SELECT id, bytes FROM brain_blobs WHERE ${UNSEALED} AND team_id = ? AND octet_length(content) = bytes ORDER BY id`,
  ),
  // By primary keys.
  place: db.prepare<[number], ContentPlace>(`SELECT ${contentPlace()} FROM brain_blobs WHERE id = ?`),
  blob: db.prepare<[number], PlacedBlob>(
    `SELECT id, sha256, rules_version AS rulesVersion, ${contentPlace()} FROM brain_blobs WHERE id = ?`,
  ),
  dropBlob: db.prepare<[number]>("DELETE FROM brain_blobs WHERE id = ?"),
  putBlob: db.prepare<[Omit<PlacedBlob, "plain"> & { teamId: string }]>(
    `INSERT INTO brain_blobs (id, team_id, sha256, rules_version, bytes, content, block_id, block_at)
     VALUES (@id, @teamId, @sha256, @rulesVersion, @bytes, '', @blockId, @blockAt)`,
  ),
  moveBlob: db.prepare<[blockId: number, blockAt: number, id: number]>(
    "UPDATE brain_blobs SET block_id = ?, block_at = ? WHERE id = ?",
  ),
  block: db.prepare<[number | bigint], Buffer>("SELECT content FROM brain_blocks WHERE id = ?").pluck(),
  insertBlock: db.prepare<[teamId: string, content: Buffer]>(
    "INSERT INTO brain_blocks (team_id, content) VALUES (?, ?)",
  ),
  dropBlock: db.prepare<[number]>("DELETE FROM brain_blocks WHERE id = ?"),
  // By brain_blobs_by_block.
  inBlock: db.prepare<[number], { id: number; teamId: string; bytes: number; blockAt: number }>(
    "SELECT id, team_id AS teamId, bytes, block_at AS blockAt FROM brain_blobs WHERE block_id = ? ORDER BY block_at",
  ),
  // Until the transaction ends: a row that is put anew under its number is gone for a moment. SQLite does this while it prepares.
  deferReferences: () => db.prepare("PRAGMA defer_foreign_keys = ON").run(),
}));
