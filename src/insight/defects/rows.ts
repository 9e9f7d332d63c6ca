import { statements } from "../../platform/store/store.ts";

/** A row of defects; `open` is 0 or 1, `commits` and `files` are JSON. */
export interface DefectRow {
  readonly id: number;
  readonly repoKey: string;
  readonly path: string;
  readonly kind: string;
  readonly heading: string;
  readonly ordinal: number;
  readonly date: string;
  readonly title: string;
  readonly line: number;
  readonly open: 0 | 1;
  readonly fingerprint: Buffer;
  readonly rule: string | null;
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

/** Statements over the errors files of a whole team, and of one repository: both by defects_by_date, on one or two columns. */
const OF_TEAM = "team_id = ? AND kind = 'error'";
const OF_REPO = "team_id = ? AND repo_key = ? AND kind = 'error'";
const NEWEST = "ORDER BY date DESC, repo_key, path, line LIMIT ?";
const days = (of: string) =>
  `SELECT date, count(*) AS count FROM defects WHERE ${of} AND date BETWEEN ? AND ? GROUP BY date`;
const totals = (of: string) => `SELECT count(*) AS total, coalesce(sum(open), 0) AS open FROM defects WHERE ${of}`;
const classes = (of: string) =>
  `SELECT fingerprint, count(*) AS occurrences, min(date) AS firstSeen, max(date) AS lastSeen FROM defects WHERE ${of}
   GROUP BY fingerprint HAVING count(*) > 1 ORDER BY occurrences DESC, lastSeen DESC, fingerprint LIMIT ?`;
const skipped = (of: string) => `SELECT coalesce(sum(skipped), 0) FROM defect_files WHERE ${of}`;

interface Totals {
  readonly total: number;
  readonly open: number;
}
interface DayCount {
  readonly date: string;
  readonly count: number;
}

export const DEFECT = `SELECT id, repo_key AS repoKey, path, kind, heading, ordinal, date, title, line, open, fingerprint, rule, commits,
  files FROM defects`;

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
    `INSERT INTO defects (team_id, repo_key, path, kind, heading, ordinal, date, title, line, open, fingerprint, rule,
     commits, files) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ),
  // By primary key.
  update: db.prepare(
    `UPDATE defects SET path = ?, kind = ?, heading = ?, ordinal = ?, date = ?, title = ?, line = ?, open = ?, fingerprint = ?,
     rule = ?, commits = ?, files = ? WHERE id = ?`,
  ),
  // Out of the way of every entry that is in a file.
  park: db.prepare<[number]>("UPDATE defects SET ordinal = -id WHERE id = ?"),
  move: db.prepare<[number, number]>("UPDATE defects SET line = ? WHERE id = ?"),
  remove: db.prepare<[number]>("DELETE FROM defects WHERE id = ?"),
  // The end of the table's own b-tree.
  newestId: db.prepare<[], number | null>("SELECT max(id) FROM defects").pluck(),
  // Both by defects_by_date: its first column, or its first two and the range of the third.
  ofTeam: db.prepare<[string, string, string], DefectRow>(
    `${DEFECT} WHERE team_id = ? AND date >= ? AND kind IN (SELECT value FROM json_each(?))
     ORDER BY date DESC, repo_key, path, line`,
  ),
  ofRepo: db.prepare<[string, string, string, string], DefectRow>(
    `${DEFECT} WHERE team_id = ? AND repo_key = ? AND date >= ? AND kind IN (SELECT value FROM json_each(?))
     ORDER BY date DESC, path, line`,
  ),
  daysOfTeam: db.prepare<[string, string, string], DayCount>(days(OF_TEAM)),
  daysOfRepo: db.prepare<[string, string, string, string], DayCount>(days(OF_REPO)),
  totalsOfTeam: db.prepare<[string], Totals>(totals(OF_TEAM)),
  totalsOfRepo: db.prepare<[string, string], Totals>(totals(OF_REPO)),
  openOfTeam: db.prepare<[string, number], DefectRow>(`${DEFECT} WHERE ${OF_TEAM} AND open = 1 ${NEWEST}`),
  openOfRepo: db.prepare<[string, string, number], DefectRow>(`${DEFECT} WHERE ${OF_REPO} AND open = 1 ${NEWEST}`),
  classesOfTeam: db.prepare<[string, number], ClassRow>(classes(OF_TEAM)),
  classesOfRepo: db.prepare<[string, string, number], ClassRow>(classes(OF_REPO)),
  // By defects_by_fingerprint.
  ofClass: db.prepare<[string, Buffer, string | null, number], DefectRow>(
    `${DEFECT} WHERE team_id = ? AND fingerprint = ? AND kind = 'error' AND repo_key = coalesce(?, repo_key) ${NEWEST}`,
  ),
  // By defects_by_fingerprint, for each of a JSON list of fingerprints.
  ended: db
    .prepare<[string, string, string], number>(
      `SELECT count(*) FROM (SELECT max(d.date) AS last FROM json_each(?) f CROSS JOIN defects d
         WHERE d.team_id = ? AND d.fingerprint = unhex(f.value) AND d.kind = 'error'
         GROUP BY d.fingerprint HAVING count(*) > 1) WHERE last <= ?`,
    )
    .pluck(),
  // By the primary key's first columns.
  skippedOfTeam: db.prepare<[string], number>(skipped(OF_TEAM)).pluck(),
  skippedOfRepo: db.prepare<[string, string], number>(skipped(OF_REPO)).pluck(),
}));
