import { statements } from "../../platform/store/store.ts";

export interface VersionRow {
  readonly id: number;
  readonly document: string;
  readonly createdAt: number;
  readonly createdBy: string | null;
}

/** A version with the document that it replaced; null for a team's first. */
export interface HistoryRow extends VersionRow {
  readonly before: string | null;
}

const VERSION = "p.id, p.document, p.created_at AS createdAt, p.created_by AS createdBy";
const HISTORY = `SELECT ${VERSION},
  (SELECT b.document FROM policies b WHERE b.team_id = p.team_id AND b.id < p.id ORDER BY b.id DESC LIMIT 1) AS before
  FROM policies p WHERE p.team_id = ?`;

export const rows = statements((db) => ({
  // All by policies_by_team.
  current: db.prepare<[string], VersionRow>(
    `SELECT ${VERSION} FROM policies p WHERE p.team_id = ? ORDER BY p.id DESC LIMIT 1`,
  ),
  version: db.prepare<[string, number], VersionRow>(
    `SELECT ${VERSION} FROM policies p WHERE p.team_id = ? AND p.id = ?`,
  ),
  older: db.prepare<[string, number, number], HistoryRow>(`${HISTORY} AND p.id < ? ORDER BY p.id DESC LIMIT ?`),
  newer: db.prepare<[string, number, number], HistoryRow>(`${HISTORY} AND p.id > ? ORDER BY p.id LIMIT ?`),
  insert: db.prepare<[string, string, number, string | null]>(
    "INSERT INTO policies (team_id, document, created_at, created_by) VALUES (?, ?, ?, ?)",
  ),
  // A walk of the table, for a person who is erased.
  renameMaker: db.prepare<[{ email: string; mark: string; limit: number }]>(
    `UPDATE policies SET created_by = @mark WHERE id IN (SELECT id FROM policies WHERE created_by = @email LIMIT @limit)`,
  ),
}));
