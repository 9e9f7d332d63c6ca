import { statements } from "../store/store.ts";

/** A place's columns and what stands there, by the names of the statements below. */
export interface CellRow {
  readonly teamId: string;
  readonly day: number;
  readonly repoKey: string;
  readonly branch: string;
  readonly model: string;
  readonly deviceId: string;
  readonly session: string;
  readonly context: number;
}

export interface FigureColumns {
  readonly usages: number;
  readonly input: number;
  readonly output: number;
  readonly cacheWrite: number;
  readonly cacheWrite1h: number;
  readonly cacheRead: number;
  readonly reportedNano: number;
  readonly reported: number;
}

/** A candidate with its place; `day` is null where there is none. */
export interface CandidateRow extends FigureColumns {
  readonly source: number;
  readonly cellId: number;
  readonly times: number;
  readonly counted: 0 | 1;
  readonly day: number | null;
  readonly repoKey: string;
  readonly branch: string;
  readonly model: string;
  readonly deviceId: string;
  readonly session: string;
  readonly context: number;
}

/** What sums are asked for by. */
export const GROUPINGS = ["model", "repo", "branch", "device", "session", "day"] as const;
export type Grouping = (typeof GROUPINGS)[number];

export interface GroupRow extends FigureColumns {
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
const CANDIDATE = `u.source, u.cell_id AS cellId, u.times, u.counted, u.usages, u.input, u.output, u.cache_write AS cacheWrite,
  u.cache_write_1h AS cacheWrite1h, u.cache_read AS cacheRead, u.reported_nano AS reportedNano, u.reported,
  c.day, c.repo_key AS repoKey, c.branch, c.model, c.device_id AS deviceId, c.session, c.context`;
const MOST = Number.MAX_SAFE_INTEGER;
/** Sums neither overflow nor fall below what was ever added, whatever figures agents make up. */
const plus = (column: string, name: string) => `${column} = max(0, min(${column} + @${name}, ${MOST}))`;

interface Range {
  readonly teamId: string;
  readonly from: number;
  readonly to: number;
  readonly repoKey: string | null;
}

export const rows = statements((db) => ({
  // By spend_cells_by_day, whole.
  cell: db
    .prepare<[CellRow], number>(
      `SELECT id FROM spend_cells WHERE team_id = @teamId AND day = @day AND repo_key = @repoKey AND branch = @branch AND model = @model
         AND device_id = @deviceId AND session = @session AND context = @context`,
    )
    .pluck(),
  insertCell: db.prepare<[CellRow & { sessionBranch: string; sessionModel: string }]>(
    `INSERT INTO spend_cells (team_id, day, repo_key, branch, model, device_id, session, context, session_branch, session_model,
       usages, input, output, cache_write, cache_write_1h, cache_read, reported_nano, reported)
     VALUES (@teamId, @day, @repoKey, @branch, @model, @deviceId, @session, @context, @sessionBranch, @sessionModel, 0, 0, 0, 0, 0, 0, 0, 0)`,
  ),
  // By primary key.
  addToCell: db.prepare<[FigureColumns & { id: number }]>(
    `UPDATE spend_cells SET ${plus("usages", "usages")}, ${plus("input", "input")}, ${plus("output", "output")},
       ${plus("cache_write", "cacheWrite")}, ${plus("cache_write_1h", "cacheWrite1h")}, ${plus("cache_read", "cacheRead")},
       ${plus("reported_nano", "reportedNano")}, ${plus("reported", "reported")} WHERE id = @id`,
  ),
  // By spend_cells_by_session.
  nameCells: db.prepare<[{ branch: string; model: string; deviceId: string; session: string }]>(
    `UPDATE spend_cells SET session_branch = @branch, session_model = @model
     WHERE device_id = @deviceId AND session = @session AND (session_branch <> @branch OR session_model <> @model)`,
  ),
  // By spend_usages' primary key (team_id, usage_key, …); cells by theirs.
  candidates: db.prepare<[string, Buffer], CandidateRow>(
    `SELECT ${CANDIDATE} FROM spend_usages u LEFT JOIN spend_cells c ON c.id = u.cell_id WHERE u.team_id = ? AND u.usage_key = ?`,
  ),
  // By the primary key, whole.
  putCandidate: db.prepare<
    [
      FigureColumns & {
        teamId: string;
        key: Buffer;
        source: number;
        cellId: number;
        times: number;
        counted: number;
      },
    ]
  >(
    `INSERT INTO spend_usages (team_id, usage_key, source, cell_id, times, counted, usages, input, output, cache_write, cache_write_1h,
       cache_read, reported_nano, reported)
     VALUES (@teamId, @key, @source, @cellId, @times, @counted, @usages, @input, @output, @cacheWrite, @cacheWrite1h, @cacheRead,
       @reportedNano, @reported)
     ON CONFLICT (team_id, usage_key, source, cell_id) DO UPDATE SET times = excluded.times, counted = excluded.counted,
       usages = excluded.usages, input = excluded.input, output = excluded.output, cache_write = excluded.cache_write,
       cache_write_1h = excluded.cache_write_1h, cache_read = excluded.cache_read, reported_nano = excluded.reported_nano,
       reported = excluded.reported`,
  ),
  dropCandidate: db.prepare<[string, Buffer, number, number]>(
    "DELETE FROM spend_usages WHERE team_id = ? AND usage_key = ? AND source = ? AND cell_id = ?",
  ),
  // By spend_usages_by_source; cells by primary key.
  ofSession: db.prepare<[number, string], CandidateRow & { key: Buffer }>(
    `SELECT u.usage_key AS key, ${CANDIDATE} FROM spend_usages u CROSS JOIN spend_cells c ON c.id = u.cell_id
     WHERE u.source = ? AND u.source > 0 AND u.team_id = ?`,
  ),
  // By spend_cells_by_day: the team and the range of days.
  sums: Object.fromEntries(
    GROUPINGS.map((by) => [
      by,
      db.prepare<[Range], GroupRow>(
        `SELECT ${GROUP[by]} AS key, ${by === "session" ? "device_id" : "''"} AS ofDevice, ${MODEL} AS model, context, ${SUMS}
         FROM spend_cells WHERE team_id = @teamId AND day BETWEEN @from AND @to AND (@repoKey IS NULL OR repo_key = @repoKey)
           AND (usages > 0 OR reported > 0)
         GROUP BY 1, 2, 3, 4`,
      ),
    ]),
  ) as unknown as Record<Grouping, { all(range: Range): GroupRow[] }>,
  // Ends of the tables' own b-trees, and the derivations' primary key.
  lastEntry: db.prepare<[], number | null>("SELECT max(id) FROM telemetry_entries").pluck(),
  position: db.prepare<[string], number>("SELECT position FROM derivations WHERE name = ?").pluck(),
}));
