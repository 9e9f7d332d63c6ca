import { statements } from "../../platform/store/store.ts";

export const rows = statements((db) => ({
  // By the primary key.
  note: db.prepare<[Buffer, number]>("INSERT OR IGNORE INTO otlp_seen (entry_key, received_at) VALUES (?, ?)"),
  // By otlp_seen_by_time.
  forget: db.prepare<[number, number]>(
    "DELETE FROM otlp_seen WHERE entry_key IN (SELECT entry_key FROM otlp_seen WHERE received_at < ? LIMIT ?)",
  ),
}));
