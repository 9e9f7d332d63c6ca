import { statements } from "../store/store.ts";

export const rows = statements((db) => ({
  // By primary key.
  position: db.prepare<[string], number>("SELECT position FROM derivations WHERE name = ?").pluck(),
  start: db.prepare<[string]>("INSERT INTO derivations (name, position) VALUES (?, 0) ON CONFLICT (name) DO NOTHING"),
  // By its first column: what begins anew has failed at nothing yet.
  forget: db.prepare<[string]>("DELETE FROM derivation_failures WHERE name = ?"),
  fail: db.prepare<[string, number, number, string]>(
    `INSERT INTO derivation_failures (name, position, failed_at, cause) VALUES (?, ?, ?, ?)
     ON CONFLICT (name, position) DO UPDATE SET failed_at = excluded.failed_at, cause = excluded.cause`,
  ),
  // The whole table, which is empty where all is well.
  failures: db.prepare<[], { name: string; count: number; position: number; failedAt: number; cause: string }>(
    `SELECT name, count(*) AS count, max(position) AS position, failed_at AS failedAt, cause FROM derivation_failures
     GROUP BY name ORDER BY name`,
  ),
  // The newest delivery: the end of the table's own b-tree.
  lastDelivery: db.prepare<[], number>("SELECT max(id) FROM deliveries").pluck(),
  advance: db.prepare<[number, string, number]>("UPDATE derivations SET position = ? WHERE name = ? AND position = ?"),
}));
