import { statements } from "../../platform/store/store.ts";
import { type Dimensions, MEASURES, type Measures } from "./usage-record.ts";

/** A report as it lies in the table; its dimensions are those of its cell. */
export interface StoredRow extends Measures {
  readonly key: Buffer;
  readonly source: number;
  /** 0 for no dimensions. */
  readonly cellId: number;
  readonly times: number;
}

/** What sums are read by. */
const READ_BY = ["model", "repo", "branch", "device", "session", "day"] as const;
export type ReadBy = (typeof READ_BY)[number];
/** What sums are asked for by. A person's are those of the devices that are the person's when asked. */
export const GROUPINGS = [...READ_BY, "person"] as const;
export type Grouping = (typeof GROUPINGS)[number];

export interface GroupRow extends Measures {
  readonly key: string | number;
  /** The session's device; '' but for sessions. */
  readonly ofDevice: string;
  readonly model: string;
  readonly context: number;
}

const column = (measure: string) => measure.replace(/[A-Z]|\d+/g, (part) => `_${part.toLowerCase()}`);
const list = (entry: (measure: string) => string) => MEASURES.map(entry).join(", ");
const COLUMNS = list(column);
const VALUES = list((name) => `@${name}`);
const MEMBERS = list((name) => `${column(name)} AS ${name}`);
const MODEL = "iif(model = '', session_model, model)";
const GROUP: Record<ReadBy, string> = {
  model: MODEL,
  repo: "repo_key",
  branch: "iif(branch = '', session_branch, branch)",
  device: "device_id",
  session: "session",
  day: "day",
};
const SUMS = list((name) => `sum(${column(name)}) AS ${name}`);
const SUMS_OF_SUMS = list((name) => `sum(${name}) AS ${name}`);
const ASKED = `FROM spend_cells WHERE team_id = @teamId AND day BETWEEN @from AND @to AND (@repoKey IS NULL OR repo_key = @repoKey)
  AND (@deviceIds IS NULL OR device_id IN (SELECT value FROM json_each(@deviceIds))) AND (usages > 0 OR reported > 0)`;
const sumsBy = (by: ReadBy) => {
  const ofDevice = by === "session" ? "device_id" : "''";
  const groups = [GROUP[by], ...(by === "session" ? [ofDevice] : []), MODEL, "context"].join(", ");
  return `SELECT ${GROUP[by]} AS key, ${ofDevice} AS ofDevice, ${MODEL} AS model, context, ${SUMS} ${ASKED} GROUP BY ${groups}`;
};
/** The same of a whole team, by days that are summed already. */
const OF_TEAM = `SELECT day AS key, '' AS ofDevice, model, context, ${MEMBERS} FROM spend_days
  WHERE team_id = @teamId AND day BETWEEN @from AND @to`;
/** Day by day first, in the order of the index: that spares sorting all cells. */
const OF_MODELS = `SELECT model AS key, '' AS ofDevice, model, context, ${SUMS_OF_SUMS} FROM (${sumsBy("day")}) GROUP BY model, context`;
const REPORT = `SELECT usage_key AS key, source, cell_id AS cellId, times, ${MEMBERS} FROM spend_usages`;
const PUT_REPORT = `INSERT INTO spend_usages (team_id, usage_key, source, cell_id, times, ${COLUMNS})
  VALUES (@teamId, @key, @source, @cellId, @times, ${VALUES}) ON CONFLICT (team_id, usage_key, source, cell_id) DO UPDATE SET`;
const MAX = Number.MAX_SAFE_INTEGER;
/** Sums neither overflow nor fall below what was ever added, whatever figures agents make up. */
const ADDED = list((name) => `${column(name)} = max(0, min(${column(name)} + @${name}, ${MAX}))`);

interface Range {
  readonly teamId: string;
  readonly from: number;
  readonly to: number;
  readonly repoKey: string | null;
  /** A JSON array; null for all. */
  readonly deviceIds: string | null;
}

type ReportRow = StoredRow & { readonly teamId: string };

export const rows = statements((db) => {
  const sums = (by: ReadBy) => db.prepare<[Range], GroupRow>(by === "model" ? OF_MODELS : sumsBy(by));
  return {
    // By spend_cells_by_day, whole.
    cell: db
      .prepare<[Dimensions], number>(
        `SELECT id FROM spend_cells WHERE team_id = @teamId AND day = @day AND repo_key = @repoKey AND branch = @branch AND model = @model
           AND device_id = @deviceId AND session = @session AND context = @context`,
      )
      .pluck(),
    // By primary key.
    dimensions: db.prepare<[number], Dimensions>(
      `SELECT team_id AS teamId, day, repo_key AS repoKey, branch, model, device_id AS deviceId, session, context
       FROM spend_cells WHERE id = ?`,
    ),
    insertCell: db.prepare<[Dimensions & { sessionBranch: string; sessionModel: string }]>(
      `INSERT INTO spend_cells (team_id, day, repo_key, branch, model, device_id, session, context, session_branch, session_model, ${COLUMNS})
       VALUES (@teamId, @day, @repoKey, @branch, @model, @deviceId, @session, @context, @sessionBranch, @sessionModel, ${list(() => "0")})`,
    ),
    // By primary key.
    addToCell: db.prepare<[Measures & { id: number }]>(`UPDATE spend_cells SET ${ADDED} WHERE id = @id`),
    // By spend_cells_by_session.
    nameCells: db.prepare<[{ branch: string; model: string; deviceId: string; session: string }]>(
      `UPDATE spend_cells SET session_branch = @branch, session_model = @model
       WHERE device_id = @deviceId AND session = @session AND (session_branch <> @branch OR session_model <> @model)`,
    ),
    // All by spend_usages' primary key: parts of it, ranges of keys, or the whole.
    reports: db.prepare<[string, Buffer], StoredRow>(`${REPORT} WHERE team_id = ? AND usage_key = ?`),
    reportsFrom: db.prepare<[string, Buffer, number], StoredRow>(
      `${REPORT} WHERE team_id = ? AND usage_key = ? AND source = ?`,
    ),
    within: db.prepare<[string, Buffer, Buffer], StoredRow>(
      `${REPORT} WHERE team_id = ? AND usage_key BETWEEN ? AND ?`,
    ),
    isAnyWithin: db
      .prepare<[string, Buffer, Buffer], 1>(
        "SELECT 1 FROM spend_usages WHERE team_id = ? AND usage_key BETWEEN ? AND ? LIMIT 1",
      )
      .pluck(),
    // The planner looks at a limit that is bound, and plans anew for every value; at one that is selected it does not.
    firstWithin: db.prepare<[string, Buffer, Buffer, number], StoredRow>(
      `${REPORT} WHERE team_id = ? AND usage_key BETWEEN ? AND ? LIMIT (SELECT ?)`,
    ),
    twoLinks: db
      .prepare<[string, Buffer, Buffer], Buffer>(
        "SELECT DISTINCT usage_key FROM spend_usages WHERE team_id = ? AND usage_key > ? AND usage_key <= ? LIMIT 2",
      )
      .pluck(),
    // By the primary key, whole.
    putReport: db.prepare<[ReportRow]>(
      `${PUT_REPORT} times = excluded.times, ${list((name) => `${column(name)} = excluded.${column(name)}`)}`,
    ),
    // Values in their places, those of `MEASURES` last: there are many, and names would have to be looked up for each.
    repeatReport: db.prepare<[string, Buffer, number, number, number, ...number[]]>(
      `INSERT INTO spend_usages (team_id, usage_key, source, cell_id, times, ${COLUMNS}) VALUES (?, ?, ?, ?, ?, ${list(() => "?")})
       ON CONFLICT (team_id, usage_key, source, cell_id) DO UPDATE SET times = times + excluded.times`,
    ),
    dropReport: db.prepare<[string, Buffer, number, number]>(
      "DELETE FROM spend_usages WHERE team_id = ? AND usage_key = ? AND source = ? AND cell_id = ?",
    ),
    dropUnreported: db.prepare<[string, Buffer, number, number]>(
      "DELETE FROM spend_usages WHERE team_id = ? AND usage_key = ? AND source = ? AND cell_id = ? AND times <= 0",
    ),
    // By spend_usages_by_source.
    ofSession: db.prepare<[number, string], StoredRow>(`${REPORT} WHERE source = ? AND source > 0 AND team_id = ?`),
    // By spend_cells_by_model or spend_cells_by_day: the team and the range of days.
    sums: {
      model: sums("model"),
      repo: sums("repo"),
      branch: sums("branch"),
      device: sums("device"),
      session: sums("session"),
      day: sums("day"),
    },
    // By spend_days' primary key.
    daysOfTeam: db.prepare<[Pick<Range, "teamId" | "from" | "to">], GroupRow>(OF_TEAM),
    dropDays: db.prepare<[]>("DELETE FROM spend_days"),
    dropReports: db.prepare<[]>("DELETE FROM spend_usages"),
    dropCells: db.prepare<[]>("DELETE FROM spend_cells"),
  };
});
