import { statements } from "../../platform/store/store.ts";

export const rows = statements((db) => ({
  // All by the primary key.
  begin: db.prepare<[string, number]>("INSERT INTO alarms (key, began_at) VALUES (?, ?) ON CONFLICT (key) DO NOTHING"),
  end: db.prepare<[string]>("DELETE FROM alarms WHERE key = ?"),
  at: db.prepare<[string], number>("SELECT began_at FROM alarms WHERE key = ?").pluck(),
  put: db.prepare<[string, number]>(
    "INSERT INTO alarms (key, began_at) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET began_at = excluded.began_at",
  ),
  of: db.prepare<[string, string], string>("SELECT key FROM alarms WHERE key >= ? AND key < ? ORDER BY key").pluck(),
}));
