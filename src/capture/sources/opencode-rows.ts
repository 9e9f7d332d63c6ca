import type { LocalDatabase } from "../rows.ts";

/**
 * How far the last look read: until an instant, in milliseconds since the epoch, and to the last rows that the tables had then, whatever
 * their time.
 */
export interface Until {
  readonly since: number;
  readonly message: number;
  readonly part: number;
}

/** Statements on opencode's own database: its columns as of 1.18. */
export const opencodeRows = (db: LocalDatabase) => ({
  ends: db.prepare<[], Omit<Until, "since">>(
    `SELECT (SELECT coalesce(max(rowid), 0) FROM message) AS message, (SELECT coalesce(max(rowid), 0) FROM part) AS part`,
  ),
  /** The sessions in which anything was written since, oldest first. */
  changed: db.prepare<[Until], Record<string, unknown> & { readonly id: string }>(
    `SELECT 'session' AS "table", * FROM session WHERE time_updated >= @since
       OR id IN (SELECT session_id FROM message WHERE time_updated >= @since OR rowid > @message)
       OR id IN (SELECT session_id FROM part WHERE time_updated >= @since OR rowid > @part)
     ORDER BY time_created, id`,
  ),
  /** What was written in a session since. A message comes after its parts, because it sums them up. */
  rows: db.prepare<[Until & { readonly id: string }], Record<string, unknown>>(
    `SELECT "table", id, session_id, message_id, time_created, time_updated, data, message, parent_id FROM (
       SELECT 'part' AS "table", p.id, p.session_id, p.message_id, p.time_created, p.time_updated, p.data,
         m.data AS message, s.parent_id, m.time_created AS begun, m.id AS whose, 0 AS isWhole
       FROM part p JOIN message m ON m.id = p.message_id JOIN session s ON s.id = p.session_id
       WHERE p.session_id = @id AND (p.time_updated >= @since OR p.rowid > @part)
       UNION ALL
       SELECT 'message', m.id, m.session_id, m.id, m.time_created, m.time_updated, m.data, NULL, NULL, m.time_created, m.id, 1
       FROM message m WHERE m.session_id = @id AND (m.time_updated >= @since OR m.rowid > @message)
     ) ORDER BY begun, whose, isWhole, time_created, id`,
  ),
});
