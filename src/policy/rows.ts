import { statements } from "../store/store.ts";

export const rows = statements((db) => ({
  // By policies_by_team, newest first.
  current: db
    .prepare<[string], string>("SELECT document FROM policies WHERE team_id = ? ORDER BY id DESC LIMIT 1")
    .pluck(),
  insert: db.prepare<[string, string, number]>("INSERT INTO policies (team_id, document, created_at) VALUES (?, ?, ?)"),
}));
