import { statements } from "../../platform/store/store.ts";
import type { Figures, Place } from "./usage-record.ts";

/** A candidate; its place is that of its cell. */
export interface CandidateRow extends Figures {
  readonly key: Buffer;
  readonly source: number;
  /** 0 for no place. */
  readonly cellId: number;
  readonly times: number;
}

/** What sums are asked for by. */
export const GROUPINGS = ["model", "repo", "branch", "device", "session", "day"] as const;
export type Grouping = (typeof GROUPINGS)[number];

export interface GroupRow extends Figures {
  readonly key: string | number;
  /** The session's device; '' but for sessions. */
  readonly ofDevice: string;
  readonly model: string;
  readonly context: number;
}

const MODEL = "iif(model = '', session_model, model)";
const GROUP: Record<Grouping, string> = {
  model: MODEL,
  repo: "repo_key",
  branch: "iif(branch = '', session_branch, branch)",
  device: "device_id",
  session: "session",
  day: "day",
};
const SUMS = `sum(usages) AS usages, sum(input) AS input, sum(output) AS output, sum(cache_write) AS cacheWrite,
  sum(cache_write_1h) AS cacheWrite1h, sum(cache_read) AS cacheRead, sum(reported_nano) AS reportedNano, sum(reported) AS reported`;
const ASKED = `FROM spend_cells WHERE team_id = @teamId AND day BETWEEN @from AND @to AND (@repoKey IS NULL OR repo_key = @repoKey)
  AND (usages > 0 OR reported > 0)`;
const sumsBy = (by: Grouping) => {
  const ofDevice = by === "session" ? "device_id" : "''";
  const groups = [GROUP[by], ...(by === "session" ? [ofDevice] : []), MODEL, "context"].join(", ");
  return `SELECT ${GROUP[by]} AS key, ${ofDevice} AS ofDevice, ${MODEL} AS model, context, ${SUMS} ${ASKED} GROUP BY ${groups}`;
};
/** Day by day first, in the order of the index: that spares sorting all cells. */
const OF_MODELS = `SELECT model AS key, '' AS ofDevice, model, context, ${SUMS.replaceAll(/sum\(\w+\) AS (\w+)/g, "sum($1) AS $1")}
  FROM (${sumsBy("day")}) GROUP BY model, context`;
/** Cells are looked up apart, each once: joining them takes longer than all else. */
const CANDIDATE = `SELECT usage_key AS key, source, cell_id AS cellId, times, usages, input, output, cache_write AS cacheWrite,
  cache_write_1h AS cacheWrite1h, cache_read AS cacheRead, reported_nano AS reportedNano, reported FROM spend_usages`;
const MAX = Number.MAX_SAFE_INTEGER;
/** Sums neither overflow nor fall below what was ever added, whatever figures agents make up. */
const plus = (column: string, name: string) => `${column} = max(0, min(${column} + @${name}, ${MAX}))`;

interface Range {
  readonly teamId: string;
  readonly from: number;
  readonly to: number;
  readonly repoKey: string | null;
}

export const rows = statements((db) => ({
  // By spend_cells_by_day, whole.
  cell: db
    .prepare<[Place], number>(
      `SELECT id FROM spend_cells WHERE team_id = @teamId AND day = @day AND repo_key = @repoKey AND branch = @branch AND model = @model
         AND device_id = @deviceId AND session = @session AND context = @context`,
    )
    .pluck(),
  // By primary key.
  place: db.prepare<[number], Place>(
    `SELECT team_id AS teamId, day, repo_key AS repoKey, branch, model, device_id AS deviceId, session, context
     FROM spend_cells WHERE id = ?`,
  ),
  insertCell: db.prepare<[Place & { sessionBranch: string; sessionModel: string }]>(
    `INSERT INTO spend_cells (team_id, day, repo_key, branch, model, device_id, session, context, session_branch, session_model,
       usages, input, output, cache_write, cache_write_1h, cache_read, reported_nano, reported)
     VALUES (@teamId, @day, @repoKey, @branch, @model, @deviceId, @session, @context, @sessionBranch, @sessionModel, 0, 0, 0, 0, 0, 0, 0, 0)`,
  ),
  // By primary key.
  addToCell: db.prepare<[Figures & { id: number }]>(
    `UPDATE spend_cells SET ${plus("usages", "usages")}, ${plus("input", "input")}, ${plus("output", "output")},
       ${plus("cache_write", "cacheWrite")}, ${plus("cache_write_1h", "cacheWrite1h")}, ${plus("cache_read", "cacheRead")},
       ${plus("reported_nano", "reportedNano")}, ${plus("reported", "reported")} WHERE id = @id`,
  ),
  // By spend_cells_by_session.
  nameCells: db.prepare<[{ branch: string; model: string; deviceId: string; session: string }]>(
    `UPDATE spend_cells SET session_branch = @branch, session_model = @model
     WHERE device_id = @deviceId AND session = @session AND (session_branch <> @branch OR session_model <> @model)`,
  ),
  // All by spend_usages' primary key: parts of it, ranges of keys, or the whole.
  candidates: db.prepare<[string, Buffer], CandidateRow>(`${CANDIDATE} WHERE team_id = ? AND usage_key = ?`),
  candidatesFrom: db.prepare<[string, Buffer, number], CandidateRow>(
    `${CANDIDATE} WHERE team_id = ? AND usage_key = ? AND source = ?`,
  ),
  candidate: db.prepare<[string, Buffer, number, number], CandidateRow>(
    `${CANDIDATE} WHERE team_id = ? AND usage_key = ? AND source = ? AND cell_id = ?`,
  ),
  within: db.prepare<[string, Buffer, Buffer], CandidateRow>(
    `${CANDIDATE} WHERE team_id = ? AND usage_key BETWEEN ? AND ?`,
  ),
  // The planner looks at a limit that is bound, and plans anew for every value; at one that is selected it does not.
  firstWithin: db.prepare<[string, Buffer, Buffer, number], CandidateRow>(
    `${CANDIDATE} WHERE team_id = ? AND usage_key BETWEEN ? AND ? LIMIT (SELECT ?)`,
  ),
  twoLinks: db
    .prepare<[string, Buffer, Buffer], Buffer>(
      "SELECT DISTINCT usage_key FROM spend_usages WHERE team_id = ? AND usage_key > ? AND usage_key <= ? LIMIT 2",
    )
    .pluck(),
  // By the primary key, whole.
  putCandidate: db.prepare<
    [
      Figures & {
        teamId: string;
        key: Buffer;
        source: number;
        cellId: number;
        times: number;
      },
    ]
  >(
    `INSERT INTO spend_usages (team_id, usage_key, source, cell_id, times, usages, input, output, cache_write, cache_write_1h,
       cache_read, reported_nano, reported)
     VALUES (@teamId, @key, @source, @cellId, @times, @usages, @input, @output, @cacheWrite, @cacheWrite1h, @cacheRead,
       @reportedNano, @reported)
     ON CONFLICT (team_id, usage_key, source, cell_id) DO UPDATE SET times = excluded.times, usages = excluded.usages, input = excluded.input, output = excluded.output, cache_write = excluded.cache_write,
       cache_write_1h = excluded.cache_write_1h, cache_read = excluded.cache_read, reported_nano = excluded.reported_nano,
       reported = excluded.reported`,
  ),
  dropCandidate: db.prepare<[string, Buffer, number, number]>(
    "DELETE FROM spend_usages WHERE team_id = ? AND usage_key = ? AND source = ? AND cell_id = ?",
  ),
  // By spend_usages_by_source.
  ofSession: db.prepare<[number, string], CandidateRow>(`${CANDIDATE} WHERE source = ? AND source > 0 AND team_id = ?`),
  // By spend_cells_by_model or spend_cells_by_day: the team and the range of days.
  sums: Object.fromEntries(
    GROUPINGS.map((by) => [by, db.prepare<[Range], GroupRow>(by === "model" ? OF_MODELS : sumsBy(by))]),
  ) as unknown as Record<Grouping, { all(range: Range): GroupRow[] }>,
  // What was settled by older rules is settled anew.
  retire: db.prepare<[]>("DELETE FROM projections WHERE name IN ('spend.entries', 'spend.sessions')"),
  dropUsages: db.prepare<[]>("DELETE FROM spend_usages"),
  dropCells: db.prepare<[]>("DELETE FROM spend_cells"),
  // By the projections' primary key.
  position: db.prepare<[string], number>("SELECT checkpoint FROM projections WHERE name = ?").pluck(),
}));
