import type { LocalDatabase, SessionRow } from "./rows.ts";

/** Statements that are asked for seldom. */
export const preparePruneRows = (db: LocalDatabase) => ({
  sourcePaths: db.prepare<[], string>("SELECT path FROM sources").pluck(),
  // Uses the index sessions_by_change.
  sentBefore: db.prepare<[number], Pick<SessionRow, "id" | "agent">>(
    "SELECT id, agent FROM sessions WHERE changed_at < ? AND revision <= sent",
  ),
  dropUnknown: db.prepare<[]>("DELETE FROM unknown_records"),
  dropSession: [
    "DELETE FROM sessions WHERE id = ?",
    "DELETE FROM prompts WHERE session = ?",
    "DELETE FROM spans WHERE session = ?",
  ].map((sql) => db.prepare<[string]>(sql)),
});
