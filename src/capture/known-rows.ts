import type { LocalDatabase } from "./rows.ts";

/** Statements that are used only until the first complete pass after the machine was connected anew, or its own state was put back. */
export const prepareKnownRows = (db: LocalDatabase) => ({
  // Sessions of which this device sent nothing since an instant, and which were not left to the earlier device that sent them.
  unsentSessions: db
    .prepare<[number], string>(
      "SELECT id FROM sessions WHERE revision > sent AND (sent = 0 AND sent_at IS NULL OR sent_at < ?)",
    )
    .pluck(),
  leaveSession: db.prepare<[string]>("UPDATE sessions SET sent = revision WHERE id = ?"),
  countSpans: db.prepare<[string], number>("SELECT count(*) FROM spans WHERE session = ?").pluck(),
  // Entries that were never sent, of the given sessions (JSON: id to instant, in milliseconds since the epoch), up to that instant.
  dropEntries: db.prepare<[string]>(
    `WITH known (session, until) AS MATERIALIZED (SELECT key, value FROM json_each(?))
     DELETE FROM entries WHERE (repo, seq) IN (
       SELECT e.repo, e.seq FROM streams s JOIN entries e ON e.repo = s.repo AND e.seq > max(s.attempted, s.acknowledged)
       JOIN known k ON k.session = json_extract(e.payload, '$.sessionId')
       WHERE coalesce(round(unixepoch(e.at, 'subsec') * 1000), 0) <= k.until)`,
  ),
  // First to negative numbers, so that no number occurs twice in between.
  closeGaps: [
    `UPDATE entries SET seq = -(@after + place) FROM (
       SELECT seq AS old, row_number() OVER (ORDER BY seq) AS place FROM entries WHERE repo = @repo AND seq > @after)
     WHERE repo = @repo AND seq = old`,
    "UPDATE entries SET seq = -seq WHERE repo = @repo AND seq < 0 AND @after >= 0",
    `UPDATE streams SET next_seq = 1 + @after + (SELECT count(*) FROM entries WHERE repo = @repo AND seq > @after)
     WHERE repo = @repo`,
  ].map((sql) => db.prepare<[{ repo: string; after: number }]>(sql)),
});
