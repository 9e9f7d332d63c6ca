import { statements } from "../../platform/store/store.ts";

export interface ViewRow {
  readonly teamId: string;
  readonly sessionId: number;
  /** Whose device sent the session. */
  readonly deviceId: string;
  /** Who opened it. */
  readonly userId: string;
  /** Since the epoch, UTC. */
  readonly day: number;
  /** The first time on that day. */
  readonly at: number;
}

const FACTS = "team_id AS teamId, session_id AS sessionId, device_id AS deviceId, user_id AS userId, day, at";
const VIEW = `SELECT ${FACTS} FROM session_views`;

export const rows = statements((db) => ({
  // These four by the primary key.
  has: db
    .prepare<[number, string, number], number>(
      "SELECT 1 FROM session_views WHERE session_id = ? AND user_id = ? AND day = ?",
    )
    .pluck(),
  note: db.prepare<[ViewRow]>(
    `INSERT INTO session_views (session_id, user_id, day, team_id, device_id, at)
     VALUES (@sessionId, @userId, @day, @teamId, @deviceId, @at) ON CONFLICT DO NOTHING`,
  ),
  ofSession: db.prepare<[number, number], ViewRow>(`${VIEW} WHERE session_id = ? ORDER BY at DESC LIMIT ?`),
  eraseOfSession: db.prepare<[number, number]>(
    `DELETE FROM session_views WHERE (session_id, user_id, day) IN (
       SELECT session_id, user_id, day FROM session_views WHERE session_id = ? LIMIT ?)`,
  ),
  // Both by session_views_by_device, the first for each.
  ofDevices: db.prepare<[string, number], ViewRow>(
    `SELECT ${FACTS} FROM json_each(?) d CROSS JOIN session_views ON device_id = d.value ORDER BY at DESC LIMIT ?`,
  ),
  eraseOfDevice: db.prepare<[string, number, number]>(
    `DELETE FROM session_views WHERE (session_id, user_id, day) IN (
       SELECT session_id, user_id, day FROM session_views WHERE device_id = ? AND at <= ? LIMIT ?)`,
  ),
  // Both by session_views_by_user.
  by: db.prepare<[string], ViewRow>(`${VIEW} WHERE user_id = ? ORDER BY at, session_id`),
  eraseBy: db.prepare<[string, number]>(
    `DELETE FROM session_views WHERE (session_id, user_id, day) IN (
       SELECT session_id, user_id, day FROM session_views WHERE user_id = ? LIMIT ?)`,
  ),
}));
