import type { Entry } from "../../formats/errors/entry.ts";
import type { HashSlice } from "../../kit/hash-slices.ts";
import { type Preparer, statements } from "../../platform/store/store.ts";
import type { DayCount } from "./trend.ts";

/** A row of defects; `commits` and `files` are JSON. */
export interface DefectRow extends Omit<Entry, "open" | "commits" | "files"> {
  readonly id: number;
  readonly repoKey: string;
  readonly path: string;
  readonly kind: string;
  readonly open: 0 | 1;
  readonly commits: string;
  readonly files: string;
}

export interface FileRow {
  readonly path: string;
  readonly blobId: number;
}

export interface ClassRow {
  readonly fingerprint: Buffer;
  readonly occurrences: number;
  readonly firstSeen: string;
  readonly lastSeen: string;
}

interface Totals {
  readonly total: number;
  readonly open: number;
}

const COLUMNS = `id, repo_key AS repoKey, path, kind, heading, ordinal, date, title, line, open, fingerprint, rule, commits,
  files`;
export const DEFECT = `SELECT ${COLUMNS} FROM defects`;

/**
 * The same of a whole team and of one repository: by defects_by_date on one column or two, or by the primary key of defect_files.
 * @param sql of a condition
 */
function scoped<Params extends unknown[], Row>(db: Preparer, sql: (where: string) => string) {
  const ofTeam = db.prepare<[string, ...Params], Row>(sql("team_id = ?"));
  const ofRepo = db.prepare<[string, string, ...Params], Row>(sql("team_id = ? AND repo_key = ?"));
  return (teamId: string, repoKey: string | undefined, ...params: Params): Row[] =>
    repoKey === undefined ? ofTeam.all(teamId, ...params) : ofRepo.all(teamId, repoKey, ...params);
}

const NEWEST = "ORDER BY date DESC, repo_key, path, line";

/** Entries of errors files in a slice, of all repositories where `repoKey` is null. */
interface Slice extends Pick<HashSlice, "lowBytes" | "highBytes"> {
  readonly teamId: string;
  readonly repoKey: string | null;
  readonly most: number;
}

/**
 * The same of one repository and of a slice: each by an index that is named, for by the order that it asks for SQLite would walk all of a
 * team's entries for those of one repository.
 * @param sql of a table and a condition
 */
const ofErrors = <Row>(db: Preparer, sql: (of: string) => string) => ({
  ofRepo: db.prepare<[Omit<Slice, "lowBytes" | "highBytes">], Row>(
    sql("defects INDEXED BY defects_by_date WHERE team_id = @teamId AND repo_key = @repoKey AND kind = 'error'"),
  ),
  ofSlice: db.prepare<[Slice], Row>(
    sql(`defects INDEXED BY defects_by_fingerprint
       WHERE team_id = @teamId AND fingerprint >= @lowBytes AND fingerprint < @highBytes AND kind = 'error'
         AND (@repoKey IS NULL OR repo_key = @repoKey)`),
  ),
});

export const rows = statements((db) => ({
  // By the primary key of defect_files.
  files: db.prepare<[string, string], FileRow>(
    "SELECT path, blob_id AS blobId FROM defect_files WHERE team_id = ? AND repo_key = ?",
  ),
  setFile: db.prepare<[string, string, string, string, number, number, number]>(
    `INSERT INTO defect_files (team_id, repo_key, path, kind, blob_id, entries, skipped) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (team_id, repo_key, path) DO UPDATE SET blob_id = excluded.blob_id, entries = excluded.entries,
     skipped = excluded.skipped`,
  ),
  dropFile: db.prepare<[string, string, string]>(
    "DELETE FROM defect_files WHERE team_id = ? AND repo_key = ? AND path = ?",
  ),
  // By the first columns of the unique index of defects.
  paths: db
    .prepare<[string, string], string>("SELECT DISTINCT path FROM defects WHERE team_id = ? AND repo_key = ?")
    .pluck(),
  // By the unique index of defects (team_id, repo_key, path, …).
  ofFile: db.prepare<[string, string, string], DefectRow>(`${DEFECT} WHERE team_id = ? AND repo_key = ? AND path = ?`),
  insert: db.prepare(
    `INSERT INTO defects (id, team_id, repo_key, path, kind, heading, ordinal, date, title, line, open, fingerprint, rule,
     commits, files) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ),
  // By defects_by_fingerprint.
  countOfClass: db
    .prepare<[string, Buffer, number], number>(
      "SELECT count(*) FROM (SELECT 1 FROM defects WHERE team_id = ? AND fingerprint = ? AND kind = 'error' LIMIT ?)",
    )
    .pluck(),
  // By primary key.
  update: db.prepare(
    `UPDATE defects SET path = ?, kind = ?, heading = ?, ordinal = ?, date = ?, title = ?, line = ?, open = ?, fingerprint = ?,
     rule = ?, commits = ?, files = ? WHERE id = ?`,
  ),
  // Moves a row out of the way of every entry in a file.
  park: db.prepare<[number]>("UPDATE defects SET ordinal = -id WHERE id = ?"),
  move: db.prepare<[number, number]>("UPDATE defects SET line = ? WHERE id = ?"),
  remove: db.prepare<[number]>("DELETE FROM defects WHERE id = ?"),
  // All by the primary key of defects_gone.
  putGone: db.prepare<[string, string, Buffer, number]>(
    "INSERT OR REPLACE INTO defects_gone (team_id, repo_key, digest, id) VALUES (?, ?, ?, ?)",
  ),
  // Null where another entry has the number by now, as after the team came from another instance.
  takeGone: db
    .prepare<[string, string, Buffer], number | null>(
      `DELETE FROM defects_gone WHERE team_id = ? AND repo_key = ? AND digest = ?
       RETURNING iif(EXISTS (SELECT 1 FROM defects d WHERE d.id = defects_gone.id), NULL, id)`,
    )
    .pluck(),
  dropGone: db.prepare<[string, string, number]>(
    `DELETE FROM defects_gone WHERE (team_id, repo_key, digest) IN (
       SELECT team_id, repo_key, digest FROM defects_gone WHERE team_id = ? AND repo_key = ? LIMIT ?)`,
  ),
  // The end of the table's own b-tree.
  newestId: db.prepare<[], number | null>("SELECT max(id) FROM defects").pluck(),
  list: scoped<[string, string], DefectRow>(
    db,
    (where) => `${DEFECT} WHERE ${where} AND date >= ? AND kind IN (SELECT value FROM json_each(?)) ${NEWEST}`,
  ),
  // Of errors files.
  days: scoped<[string, string], DayCount>(
    db,
    (where) =>
      `SELECT date, count(*) AS count FROM defects WHERE ${where} AND kind = 'error' AND date BETWEEN ? AND ? GROUP BY date`,
  ),
  entries: scoped<[], { entries: number }>(
    db,
    (where) => `SELECT coalesce(sum(entries), 0) AS entries FROM defect_files WHERE ${where}`,
  ),
  totals: ofErrors<Totals>(db, (of) => `SELECT count(*) AS total, coalesce(sum(open), 0) AS open FROM ${of}`),
  open: ofErrors<DefectRow>(db, (of) => `SELECT ${COLUMNS} FROM ${of} AND open = 1 ${NEWEST} LIMIT @most`),
  classes: ofErrors<ClassRow>(
    db,
    (of) =>
      `SELECT fingerprint, count(*) AS occurrences, min(date) AS firstSeen, max(date) AS lastSeen FROM ${of}
       GROUP BY fingerprint HAVING count(*) > 1 ORDER BY occurrences DESC, lastSeen DESC, fingerprint LIMIT @most`,
  ),
  skipped: scoped<[], { skipped: number }>(
    db,
    (where) => `SELECT coalesce(sum(skipped), 0) AS skipped FROM defect_files WHERE ${where} AND kind = 'error'`,
  ),
  // By the primary key, a bounded part.
  openAfter: db.prepare<[number, number], { last: number | null; entries: number; open: number }>(
    `SELECT max(id) AS last, count(*) FILTER (WHERE kind = 'error') AS entries,
       count(*) FILTER (WHERE kind = 'error' AND open = 1) AS open
     FROM (SELECT id, kind, open FROM defects WHERE id > ? ORDER BY id LIMIT ?)`,
  ),
  // By defects_by_fingerprint.
  ofClass: db.prepare<[string, Buffer, string | null, number], DefectRow>(
    `${DEFECT} INDEXED BY defects_by_fingerprint
     WHERE team_id = ? AND fingerprint = ? AND kind = 'error' AND repo_key = coalesce(?, repo_key) ${NEWEST} LIMIT ?`,
  ),
  // By defects_by_fingerprint, for each of a JSON list of fingerprints.
  ended: db
    .prepare<[string, string, string], number>(
      `SELECT count(*) FROM (SELECT max(d.date) AS last FROM json_each(?) f CROSS JOIN defects d
         WHERE d.team_id = ? AND d.fingerprint = unhex(f.value) AND d.kind = 'error'
         GROUP BY d.fingerprint HAVING count(*) > 1) WHERE last <= ?`,
    )
    .pluck(),
}));
