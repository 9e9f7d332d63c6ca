import { statements } from "../../platform/store/store.ts";

export interface ReadRow {
  readonly id: number;
  readonly tokenId: string;
  readonly at: number;
  /** After redaction. */
  readonly question: string;
  /** Sections found, and how many of them were shown. */
  readonly total: number;
  readonly shown: number;
  readonly ip: string;
}

const READ = "SELECT id, token_id AS tokenId, at, question, total, shown, ip FROM token_reads";

export interface DeviceReadRow {
  readonly at: number;
  /** What was called. */
  readonly tool: string;
  readonly total: number;
  readonly shown: number;
  /** From where; null once that was erased. */
  readonly ip: string | null;
}

/** token_read_days by its primary key. */
export const rows = statements((db) => ({
  insertRead: db.prepare<[string, string, number, string, number, number, string]>(
    "INSERT INTO token_reads (token_id, user_id, at, question, total, shown, ip) VALUES (?, ?, ?, ?, ?, ?, ?)",
  ),
  // Newest first: by token_reads_by_user, and by token_reads_by_token.
  reads: db.prepare<[string, number, number], ReadRow>(`${READ} WHERE user_id = ? AND id < ? ORDER BY id DESC LIMIT ?`),
  readsOfToken: db.prepare<[string, string, number, number], ReadRow>(
    `${READ} WHERE token_id = ? AND +user_id = ? AND id < ? ORDER BY id DESC LIMIT ?`,
  ),
  readsOn: db
    .prepare<[string, number], number>("SELECT reads FROM token_read_days WHERE token_id = ? AND day = ?")
    .pluck(),
  // Changes nothing once the cap is reached.
  countRead: db
    .prepare<[string, number, number], number>(
      `INSERT INTO token_read_days (token_id, day, reads) VALUES (?, ?, 1)
       ON CONFLICT (token_id, day) DO UPDATE SET reads = reads + 1 WHERE reads < ? RETURNING reads`,
    )
    .pluck(),
  dropDaysBefore: db.prepare<[string, number]>("DELETE FROM token_read_days WHERE token_id = ? AND day < ?"),
  // Both by token_reads_by_user.
  erase: db.prepare<[string, number]>(
    `UPDATE token_reads SET question = '', ip = '' WHERE id IN (
       SELECT id FROM token_reads WHERE user_id = ? AND (question <> '' OR ip <> '') LIMIT ?)`,
  ),
  dropOld: db.prepare<[string, number, number]>(
    "DELETE FROM token_reads WHERE id IN (SELECT id FROM token_reads WHERE user_id = ? AND at <= ? ORDER BY id LIMIT ?)",
  ),
  // All by device_reads_by_device.
  insertOfDevice: db.prepare<[string, number, string, number, number, string | null]>(
    "INSERT INTO device_reads (device_id, at, tool, total, shown, ip) VALUES (?, ?, ?, ?, ?, ?)",
  ),
  boundOfDevice: db.prepare<[{ deviceId: string; kept: number }]>(
    `DELETE FROM device_reads WHERE device_id = @deviceId AND id <= (
       SELECT id FROM device_reads WHERE device_id = @deviceId ORDER BY id DESC LIMIT 1 OFFSET @kept)`,
  ),
  ofDevice: db.prepare<[string, number], DeviceReadRow>(
    "SELECT at, tool, total, shown, ip FROM device_reads WHERE device_id = ? ORDER BY id DESC LIMIT ?",
  ),
  dropOfDevice: db.prepare<[string, number, number]>(
    "DELETE FROM device_reads WHERE id IN (SELECT id FROM device_reads WHERE device_id = ? AND at <= ? ORDER BY id LIMIT ?)",
  ),
}));
