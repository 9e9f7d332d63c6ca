import { statements } from "../../platform/store/store.ts";
import { type ClassRow, DEFECT, type DefectRow } from "./rows.ts";

/** Entries dated on one day. */
export interface ErrorDay {
  /** YYYY-MM-DD */
  readonly date: string;
  readonly entries: number;
  /** Of them, those whose class had been recorded on an earlier day. */
  readonly again: number;
}

interface Days {
  readonly teamId: string;
  readonly from: string;
  readonly to: string;
}

/** When each class was recorded first: one walk, for comparing entries with one another would take their square. */
const FIRSTS = `WITH firsts AS MATERIALIZED (
  SELECT fingerprint AS class, min(date) AS first FROM defects WHERE team_id = @teamId AND kind = 'error' GROUP BY fingerprint)`;
const WITHIN = "team_id = @teamId AND kind = 'error' AND date BETWEEN @from AND @to";

/** By the first column of defects_by_fingerprint and of defects_by_date. */
export const dailyRows = statements((db) => ({
  days: db.prepare<[Days], ErrorDay>(
    `${FIRSTS} SELECT date, count(*) AS entries, sum(date > first) AS again
     FROM defects JOIN firsts ON class = fingerprint WHERE ${WITHIN} GROUP BY date`,
  ),
  recurred: db.prepare<[Days], ClassRow>(
    `SELECT fingerprint, count(*) AS occurrences, min(date) AS firstSeen, max(date) AS lastSeen FROM defects
     WHERE team_id = @teamId AND kind = 'error' AND date <= @to GROUP BY fingerprint
     HAVING count(*) > 1 AND max(date) >= @from ORDER BY occurrences DESC, lastSeen DESC, fingerprint`,
  ),
  cameAgain: db.prepare<[Days & { most: number }], DefectRow>(
    `${FIRSTS} ${DEFECT} JOIN firsts ON class = fingerprint WHERE ${WITHIN} AND date > first
     ORDER BY date DESC, repo_key, path, line LIMIT @most`,
  ),
}));
