import { statements } from "../../platform/store/store.ts";
import { DEFECT, type DefectRow } from "./rows.ts";

/** What a page of entries is asked for with; null narrows nothing. */
export interface PageRange {
  readonly teamId: string;
  readonly repoKey: string | null;
  readonly kind: string | null;
  readonly open: 0 | 1 | null;
  /** As `likePattern` makes it. */
  readonly like: string | null;
  /** Where the row stands to begin beyond; without a date at the top. */
  readonly date: string | null;
  readonly atRepo: string;
  readonly atPath: string;
  readonly atLine: number;
  readonly count: number;
}

const MATCHES = `team_id = @teamId AND (@repoKey IS NULL OR repo_key = @repoKey) AND (@kind IS NULL OR kind = @kind)
  AND (@open IS NULL OR open = @open) AND (@like IS NULL OR heading LIKE @like ESCAPE '\\' OR rule LIKE @like ESCAPE '\\'
    OR path LIKE @like ESCAPE '\\')`;

/** A class as it is counted. */
export interface PrefixRow {
  /** The first 4 bytes of its fingerprints. */
  readonly prefix: Buffer;
  readonly occurrences: number;
  readonly open: number;
  readonly firstSeen: string;
  readonly lastSeen: string;
}

interface ClassRange {
  readonly teamId: string;
  readonly repoKey: string | null;
  readonly kind: string | null;
  readonly leastEntries: number;
  readonly leastOpen: number;
  /** Where the page before ended; null for the first. */
  readonly firstSeen: string | null;
  readonly beyond: Buffer | null;
  readonly count: number;
}

/** Fingerprints from one to another. */
interface Within {
  readonly low: Buffer;
  readonly high: Buffer;
}

const OF_KIND = "(@repoKey IS NULL OR repo_key = @repoKey) AND (@kind IS NULL OR kind = @kind)";
const classes = (where: string) =>
  `SELECT substr(fingerprint, 1, 4) AS prefix, count(*) AS occurrences, sum(open) AS open, min(date) AS firstSeen, max(date) AS lastSeen
   FROM defects WHERE team_id = @teamId AND ${where} GROUP BY prefix
   HAVING count(*) >= @leastEntries AND sum(open) >= @leastOpen
     AND (@firstSeen IS NULL OR min(date) < @firstSeen OR (min(date) = @firstSeen AND prefix < @beyond))
   ORDER BY firstSeen DESC, prefix DESC LIMIT @count`;

/** Entries as people leaf through them. */
export const pageRows = statements((db) => ({
  // By primary key.
  byId: db.prepare<[number, string], DefectRow>(`${DEFECT} WHERE id = ? AND team_id = ?`),
  // By the first three columns of the unique index of defects.
  nextLine: db
    .prepare<[string, string, string, number], number | null>(
      "SELECT min(line) FROM defects WHERE team_id = ? AND repo_key = ? AND path = ? AND line > ?",
    )
    .pluck(),
  // By the primary key of defect_files.
  blobOf: db
    .prepare<[string, string, string], number>(
      "SELECT blob_id FROM defect_files WHERE team_id = ? AND repo_key = ? AND path = ?",
    )
    .pluck(),
  // By defects_by_fingerprint.
  ofClass: db.prepare<[string, Buffer, Buffer, string | null, number], DefectRow>(
    `${DEFECT} WHERE team_id = ? AND fingerprint BETWEEN ? AND ? AND repo_key = coalesce(?, repo_key)
     ORDER BY date DESC, repo_key, path, line LIMIT ?`,
  ),
  // By an index on team_id: all entries of a team's current brains, of which there are thousands.
  classes: db.prepare<[ClassRange], PrefixRow>(classes(OF_KIND)),
  // Both by defects_by_fingerprint.
  classesWithin: db.prepare<[ClassRange & Within], PrefixRow>(
    classes(`fingerprint BETWEEN @low AND @high AND ${OF_KIND}`),
  ),
  newestOfClass: db.prepare<[Within & Pick<ClassRange, "teamId" | "repoKey" | "kind">], DefectRow>(
    `${DEFECT} WHERE team_id = @teamId AND fingerprint BETWEEN @low AND @high AND ${OF_KIND}
     ORDER BY date DESC, repo_key, path, line LIMIT 1`,
  ),
  // Both by defects_by_date, its first column: all entries of a team's current brains, of which there are thousands.
  older: db.prepare<[PageRange], DefectRow>(
    `${DEFECT} WHERE ${MATCHES} AND (@date IS NULL OR date < @date
       OR (date = @date AND (repo_key, path, line) > (@atRepo, @atPath, @atLine)))
     ORDER BY date DESC, repo_key, path, line LIMIT @count`,
  ),
  newer: db.prepare<[PageRange], DefectRow>(
    `${DEFECT} WHERE ${MATCHES} AND (date > @date OR (date = @date AND (repo_key, path, line) < (@atRepo, @atPath, @atLine)))
     ORDER BY date, repo_key DESC, path DESC, line DESC LIMIT @count`,
  ),
}));
