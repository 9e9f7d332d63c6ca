import type { HashSlice } from "../../kit/hash-slices.ts";
import { holdsSought } from "../../kit/strings.ts";
import { statements } from "../../platform/store/store.ts";
import { DEFECT, type DefectRow } from "./rows.ts";

/** A text as `soughtText` makes it. */
interface Sought {
  readonly text: string | null;
  readonly begins: string | null;
}

const HOLDS_TEXT = `(@text IS NULL OR ${holdsSought("heading", "rule", "path")})`;

/** What is counted of an entry. */
export interface CountedRow {
  readonly id: number;
  readonly fingerprint: Buffer;
  readonly date: string;
  readonly open: 0 | 1;
  readonly repoKey: string;
  readonly kind: string;
  readonly path: string;
  readonly line: number;
}

/** What a class has in one repository. */
interface RepoOfClass {
  readonly repoKey: string;
  readonly occurrences: number;
  readonly open: number;
  readonly firstSeen: string;
}

/** How many entries a day has. */
export interface DayOfEntries {
  /** YYYY-MM-DD */
  readonly date: string;
  readonly count: number;
}

interface ClassesRange extends Sought, Pick<HashSlice, "lowBytes" | "highBytes"> {
  readonly teamId: string;
  readonly from: string;
  readonly to: string;
}

interface WithinRange extends Sought {
  readonly teamId: string;
  readonly count: number;
  readonly from: string;
  readonly before: string;
}

interface OpenRange extends Pick<WithinRange, "teamId" | "from" | "before"> {
  readonly repoKey: string | null;
}

/** Where an entry stands among those of its class. */
interface PlaceInClass {
  readonly teamId: string;
  readonly low: Buffer;
  readonly high: Buffer;
  readonly date: string;
  readonly repoKey: string;
  readonly path: string;
  readonly line: number;
}

/** Where a walk by fingerprint goes on, and ends. */
interface CountedRange {
  readonly teamId: string;
  readonly fingerprint: Buffer;
  readonly id: number;
  readonly high: Buffer;
  readonly count: number;
}

/** Entries as people leaf through them. */
export const pageRows = statements((db) => ({
  // By the primary key of defect_files.
  anyError: db
    .prepare<[string], 0 | 1>(
      "SELECT EXISTS (SELECT 1 FROM defect_files WHERE team_id = ? AND kind = 'error' AND entries > 0)",
    )
    .pluck(),
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
  // Both by defects_by_fingerprint.
  olderOfClass: db
    .prepare<[PlaceInClass], number>(
      `SELECT id FROM defects INDEXED BY defects_by_fingerprint WHERE team_id = @teamId AND fingerprint BETWEEN @low AND @high
         AND (date < @date OR (date = @date AND (repo_key, path, line) > (@repoKey, @path, @line)))
       ORDER BY date DESC, repo_key, path, line LIMIT 1`,
    )
    .pluck(),
  newerOfClass: db
    .prepare<[PlaceInClass], number>(
      `SELECT id FROM defects INDEXED BY defects_by_fingerprint WHERE team_id = @teamId AND fingerprint BETWEEN @low AND @high
         AND (date > @date OR (date = @date AND (repo_key, path, line) < (@repoKey, @path, @line)))
       ORDER BY date, repo_key DESC, path DESC, line DESC LIMIT 1`,
    )
    .pluck(),
  // By primary key: the classes of entries, by the first 8 hexadecimal digits.
  classesOfEntries: db.prepare<[string, string, string | null], { id: number; fingerprint: string }>(
    `SELECT id, lower(hex(substr(fingerprint, 1, 4))) AS fingerprint FROM defects
     WHERE id IN (SELECT value FROM json_each(?)) AND +team_id = ? AND kind = coalesce(?, kind)`,
  ),
  datesOfClass: db
    .prepare<[string, Buffer, Buffer, string], string>(
      "SELECT date FROM defects INDEXED BY defects_by_fingerprint WHERE team_id = ? AND fingerprint BETWEEN ? AND ? AND date >= ?",
    )
    .pluck(),
  // By defects_by_day, which has all of it, and by defects_by_date.
  days: db.prepare<[string, string], DayOfEntries>(
    "SELECT date, count(*) AS count FROM defects WHERE team_id = ? AND date >= ? GROUP BY date ORDER BY date",
  ),
  daysOfRepo: db.prepare<[string, string, string], DayOfEntries>(
    "SELECT date, count(*) AS count FROM defects WHERE team_id = ? AND date >= ? AND repo_key = ? GROUP BY date ORDER BY date",
  ),
  // By defects_by_fingerprint, a slice of a team's entries.
  classesWith: db
    .prepare<[ClassesRange], string>(
      `SELECT DISTINCT lower(hex(substr(fingerprint, 1, 4))) FROM defects INDEXED BY defects_by_fingerprint
       WHERE team_id = @teamId AND fingerprint >= @lowBytes AND fingerprint < @highBytes AND date BETWEEN @from AND @to
         AND ${HOLDS_TEXT}`,
    )
    .pluck(),
  // By the primary key of defect_files, its first column.
  undated: db.prepare<[string, string | null], { repoKey: string; path: string; skipped: number }>(
    `SELECT repo_key AS repoKey, path, skipped FROM defect_files
     WHERE team_id = ? AND repo_key = coalesce(?, repo_key) AND skipped > 0 ORDER BY skipped DESC, repo_key, path`,
  ),
  reposOfClass: db.prepare<[string, Buffer, Buffer], RepoOfClass>(
    `SELECT repo_key AS repoKey, count(*) AS occurrences, sum(open) AS open, min(date) AS firstSeen FROM defects
     WHERE team_id = ? AND fingerprint BETWEEN ? AND ? GROUP BY repo_key ORDER BY max(date) DESC, repo_key`,
  ),
  // By defects_by_fingerprint, in its order.
  byFingerprint: db.prepare<[CountedRange], CountedRow>(
    `SELECT id, fingerprint, date, open, repo_key AS repoKey, kind, path, line FROM defects
     WHERE team_id = @teamId AND (fingerprint, id) > (@fingerprint, @id) AND fingerprint <= @high
     ORDER BY fingerprint, id LIMIT @count`,
  ),
  // All by defects_by_day; the last looks at all entries of one day.
  dayUpTo: db
    .prepare<[string, string], string | null>("SELECT max(date) FROM defects WHERE team_id = ? AND date <= ?")
    .pluck(),
  dayBefore: db
    .prepare<[string, string], string | null>("SELECT max(date) FROM defects WHERE team_id = ? AND date < ?")
    .pluck(),
  beginningsOf: db
    .prepare<[{ teamId: string; date: string; below: Buffer; count: number }], Buffer>(
      `SELECT DISTINCT substr(fingerprint, 1, 4) AS beginning FROM defects
       WHERE team_id = @teamId AND date = @date AND substr(fingerprint, 1, 4) < @below ORDER BY beginning DESC LIMIT @count`,
    )
    .pluck(),
  // All by defects_by_day.
  daySome: db
    .prepare<[string, string, number], string>(
      "SELECT date FROM defects WHERE team_id = ? AND date < ? ORDER BY date DESC LIMIT 1 OFFSET ?",
    )
    .pluck(),
  within: db.prepare<[WithinRange], DefectRow>(
    `${DEFECT} INDEXED BY defects_by_day WHERE team_id = @teamId AND date >= @from AND date < @before AND ${HOLDS_TEXT}
     ORDER BY date DESC, repo_key, path, line LIMIT @count`,
  ),
  openWithin: db.prepare<[OpenRange], DefectRow>(
    `${DEFECT} INDEXED BY defects_by_day WHERE team_id = @teamId AND date >= @from AND date < @before AND kind = 'error' AND open = 1
       AND (@repoKey IS NULL OR repo_key = @repoKey) ORDER BY date DESC, repo_key, path, line`,
  ),
}));
