import { statements } from "../../platform/store/store.ts";

export interface ViewRow {
  readonly id: string;
  readonly teamId: string;
  readonly userId: string;
  /** The path of the page. */
  readonly place: string;
  readonly name: string;
  /** Of the page's address, without the question mark. */
  readonly query: string;
  readonly shared: 0 | 1;
  readonly createdAt: number;
}

const VIEW = `SELECT id, team_id AS teamId, user_id AS userId, place, name, query, shared, created_at AS createdAt FROM saved_views`;

export const rows = statements((db) => ({
  // By saved_views_of_place.
  ofPlace: db.prepare<[string, string, string, number], ViewRow>(
    `${VIEW} WHERE team_id = ? AND place = ? AND (shared = 1 OR user_id = ?) ORDER BY shared DESC, name, id LIMIT ?`,
  ),
  // By saved_views' unique index.
  count: db
    .prepare<[string, string], number>("SELECT count(*) FROM saved_views WHERE user_id = ? AND team_id = ?")
    .pluck(),
  named: db
    .prepare<[string, string, string, string], string>(
      "SELECT id FROM saved_views WHERE user_id = ? AND team_id = ? AND place = ? AND name = ?",
    )
    .pluck(),
  put: db.prepare<[ViewRow]>(
    `INSERT INTO saved_views (id, team_id, user_id, place, name, query, shared, created_at)
     VALUES (@id, @teamId, @userId, @place, @name, @query, @shared, @createdAt)
     ON CONFLICT (user_id, team_id, place, name) DO UPDATE SET query = excluded.query, shared = excluded.shared`,
  ),
  // By primary key.
  byId: db.prepare<[string, string], ViewRow>(`${VIEW} WHERE id = ? AND team_id = ?`),
  drop: db.prepare<[string]>("DELETE FROM saved_views WHERE id = ?"),
  eraseOf: db.prepare<[string, number]>(
    "DELETE FROM saved_views WHERE id IN (SELECT id FROM saved_views WHERE user_id = ? LIMIT ?)",
  ),
  // A walk of the table, which is short.
  eraseNaming: db.prepare<[{ named: string; teams: string | null; limit: number }]>(
    `DELETE FROM saved_views WHERE id IN (SELECT id FROM saved_views WHERE instr('&' || query || '&', @named)
       AND (@teams IS NULL OR team_id IN (SELECT value FROM json_each(@teams))) LIMIT @limit)`,
  ),
}));
