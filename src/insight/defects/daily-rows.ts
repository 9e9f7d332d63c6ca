import type { HashSlice } from "../../kit/hash-slices.ts";
import { statements } from "../../platform/store/store.ts";
import type { ClassRow } from "./rows.ts";

/** Entries dated on one day. */
export interface ErrorDay {
  /** YYYY-MM-DD */
  readonly date: string;
  readonly entries: number;
  /** Of them, those that are not the first entry of their class. */
  readonly again: number;
}

interface Days extends Pick<HashSlice, "lowBytes" | "highBytes"> {
  readonly teamId: string;
  readonly kind: string;
  readonly repoKey: string | null;
  readonly from: string;
  readonly to: string;
}

const IN_SLICE =
  "team_id = @teamId AND fingerprint >= @lowBytes AND fingerprint < @highBytes AND kind = @kind AND (@repoKey IS NULL OR repo_key = @repoKey)";

/** All by defects_by_fingerprint, a slice of a team's entries. */
export const dailyRows = statements((db) => ({
  // One walk finds the first entry of each class: comparing entries with one another would take their square.
  days: db.prepare<[Days], ErrorDay>(
    `SELECT date, count(*) AS entries, sum(place > 1) AS again
     FROM (SELECT date, row_number() OVER (PARTITION BY fingerprint ORDER BY date) AS place FROM defects WHERE ${IN_SLICE})
     WHERE date BETWEEN @from AND @to GROUP BY date`,
  ),
  recurred: db.prepare<[Days], ClassRow>(
    `SELECT fingerprint, count(*) AS occurrences, min(date) AS firstSeen, max(date) AS lastSeen FROM defects
     WHERE ${IN_SLICE} AND date <= @to GROUP BY fingerprint HAVING count(*) > 1 AND max(date) >= @from`,
  ),
}));
