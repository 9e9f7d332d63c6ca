import { statements } from "../store/store.ts";

export const rows = statements((db) => ({
  // By primary key.
  standing: db.prepare<[string], { checkpoint: number; part: number }>(
    "SELECT checkpoint, part FROM projections WHERE name = ?",
  ),
  start: db.prepare<[string]>("INSERT INTO projections (name, checkpoint) VALUES (?, 0) ON CONFLICT (name) DO NOTHING"),
  remove: db.prepare<[string]>("DELETE FROM projections WHERE name = ?"),
  restart: db.prepare<[string]>("DELETE FROM projections WHERE name = ? AND (checkpoint > 0 OR part > 0)"),
  // By its first column: a projection that begins anew has no failures yet.
  forget: db.prepare<[string]>("DELETE FROM projection_failures WHERE name = ?"),
  fail: db.prepare<[string, number, number, string]>(
    `INSERT INTO projection_failures (name, checkpoint, failed_at, cause) VALUES (?, ?, ?, ?)
     ON CONFLICT (name, checkpoint) DO UPDATE SET failed_at = excluded.failed_at, cause = excluded.cause`,
  ),
  // The whole table, which is empty where all is well.
  failures: db.prepare<[], { name: string; count: number; checkpoint: number; failedAt: number; cause: string }>(
    `SELECT name, count(*) AS count, max(checkpoint) AS checkpoint, failed_at AS failedAt, cause FROM projection_failures
     GROUP BY name ORDER BY name`,
  ),
  eraseCauses: db.prepare<[number]>(
    `UPDATE projection_failures SET cause = 'erased' WHERE (name, checkpoint) IN (
       SELECT name, checkpoint FROM projection_failures WHERE cause <> 'erased' LIMIT ?)`,
  ),
  pass: db.prepare<[{ name: string; checkpoint: number }]>(
    `INSERT INTO projections (name, checkpoint, part) VALUES (@name, @checkpoint, 0)
     ON CONFLICT (name) DO UPDATE SET checkpoint = max(checkpoint, excluded.checkpoint), part = 0`,
  ),
  stand: db.prepare<[{ name: string; checkpoint: number; part: number }]>(
    "UPDATE projections SET checkpoint = @checkpoint, part = @part WHERE name = @name",
  ),
}));
