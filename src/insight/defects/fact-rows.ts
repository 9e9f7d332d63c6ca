import { statements } from "../../platform/store/store.ts";
import { DEFECT, type DefectRow } from "./rows.ts";

interface Place {
  readonly teamId: string;
  readonly last: string;
  readonly date: string;
  readonly fingerprint: Buffer;
  readonly id: number;
  readonly count: number;
}

/** By defects_by_day, in its order. */
export const factRows = statements((db) => ({
  nextDate: db
    .prepare<[string, string], string | null>("SELECT min(date) FROM defects WHERE team_id = ? AND date >= ?")
    .pluck(),
  page: db.prepare<[Place], DefectRow>(
    `${DEFECT} WHERE team_id = @teamId AND date <= @last AND (date, fingerprint, id) > (@date, @fingerprint, @id)
     ORDER BY date, fingerprint, id LIMIT (SELECT @count)`,
  ),
  // By defects_by_date, which has what is asked for.
  repoKeys: db.prepare<[string], string>("SELECT DISTINCT repo_key FROM defects WHERE team_id = ?").pluck(),
  // By primary key.
  among: db
    .prepare<[string, string], number>(
      "SELECT id FROM defects WHERE id IN (SELECT value FROM json_each(?)) AND +team_id = ?",
    )
    .pluck(),
}));
