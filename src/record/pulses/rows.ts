import { statements } from "../../platform/store/store.ts";

/** `counts` is a JSON object of whole numbers, `fingerprints` a JSON array. */
export interface FiguresRow {
  readonly counts: string;
  readonly fingerprints: string;
}

export const rows = statements((db) => ({
  // By the primary key (device_id, repo_key).
  put: db.prepare<[string, string, string, number, string, string, number]>(
    `INSERT INTO brain_pulses (device_id, repo_key, team_id, at, counts, fingerprints, received_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (device_id, repo_key) DO UPDATE SET at = excluded.at, counts = excluded.counts,
     fingerprints = excluded.fingerprints, received_at = excluded.received_at WHERE excluded.at >= brain_pulses.at`,
  ),
  at: db.prepare<[string, string], number>("SELECT at FROM brain_pulses WHERE device_id = ? AND repo_key = ?").pluck(),
  figures: db.prepare<[string, string], FiguresRow>(
    "SELECT counts, fingerprints FROM brain_pulses WHERE device_id = ? AND repo_key = ?",
  ),
  // By brain_pulses_by_team, which has all that is asked for.
  list: db.prepare<[string, number, number], { deviceId: string; repoKey: string; at: number }>(
    `SELECT device_id AS deviceId, repo_key AS repoKey, at FROM brain_pulses
     WHERE team_id = ? AND at >= ? ORDER BY at DESC LIMIT ?`,
  ),
  drop: db.prepare<[{ deviceId: string; repoKey: string | null; until: number; limit: number }]>(
    `DELETE FROM brain_pulses WHERE (device_id, repo_key) IN (
       SELECT device_id, repo_key FROM brain_pulses WHERE device_id = @deviceId AND (@repoKey IS NULL OR repo_key = @repoKey)
         AND received_at <= @until LIMIT @limit)`,
  ),
}));
