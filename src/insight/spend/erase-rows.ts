import { statements } from "../../platform/store/store.ts";

interface CellQuery {
  readonly teamId: string;
  readonly deviceId: string;
  readonly repoKey: string | null;
  readonly session: string | null;
}

interface ReportName {
  readonly key: Buffer;
  readonly source: number;
  readonly cellId: number;
}

/** What it reports: a usage, a cost or both; neither for a mark. */
interface ReportRow extends ReportName {
  readonly usages: number;
  readonly reported: number;
}

export const eraseRows = statements((db) => ({
  // Both by spend_cells_by_session; every text comes before a blob.
  sessionsOf: db.prepare<[string], string>("SELECT DISTINCT session FROM spend_cells WHERE device_id = ?").pluck(),
  cells: db.prepare<[CellQuery], { id: number; session: string }>(
    `SELECT id, session FROM spend_cells WHERE device_id = @deviceId AND +team_id = @teamId
       AND session BETWEEN coalesce(@session, '') AND coalesce(@session, x'') AND (@repoKey IS NULL OR repo_key = @repoKey)`,
  ),
  // By spend_usages' primary key, from a row on.
  reportsAfter: db.prepare<[ReportName & { teamId: string; limit: number }], ReportRow>(
    `SELECT usage_key AS key, source, cell_id AS cellId, usages, reported FROM spend_usages
     WHERE team_id = @teamId AND (usage_key, source, cell_id) > (@key, @source, @cellId)
     ORDER BY usage_key, source, cell_id LIMIT @limit`,
  ),
  // Both by primary key.
  lastCell: db.prepare<[], number | null>("SELECT max(id) FROM spend_cells").pluck(),
  dropUser: db.prepare<[after: number, upTo: number, emails: string]>(
    `UPDATE spend_cells SET session_user = '' WHERE id > ? AND id <= ? AND session_user IN (SELECT value FROM json_each(?))`,
  ),
  // By primary key.
  dropEmptyCell: db.prepare<[number]>("DELETE FROM spend_cells WHERE id = ? AND usages = 0 AND reported = 0"),
}));
