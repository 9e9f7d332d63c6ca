import { statements } from "../../platform/store/store.ts";
import { type Dimensions, MEASURES, type Measures, type OfSession } from "./usage-record.ts";

/** A report as it lies in the table; its dimensions are those of its cell. */
export interface StoredRow extends Measures {
  readonly key: Buffer;
  readonly source: number;
  /** 0 for no dimensions. */
  readonly cellId: number;
  readonly times: number;
}

/** What sums are read by. */
const READ_BY = ["model", "repo", "branch", "agent", "device", "source", "session", "day"] as const;
export type ReadBy = (typeof READ_BY)[number];
/** What sums can be grouped by. A person's sources are those that are the person's at the time of asking, see `sourcesOf`. */
export const GROUPINGS = ["model", "repo", "branch", "agent", "device", "session", "day", "person"] as const;
export type Grouping = (typeof GROUPINGS)[number];

export interface CellRow extends Measures {
  readonly day: number;
  readonly model: string;
  readonly context: number;
}

/** What a team's sums by day are of. */
export interface DayOfModel {
  readonly teamId: string;
  readonly day: number;
  /** That of the session where the record told none. */
  readonly model: string;
  readonly context: number;
}

export interface OfTeamSession extends OfSession {
  readonly teamId: string;
}

/** A session whichever of a team's devices tells of it. */
export type OfTeam = Omit<OfTeamSession, "deviceId">;

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
const MEMBERS = list((name) => `${column(name)} AS ${name}`);
const MODEL = "iif(model = '', session_model, model)";
/** Whom the agent names as signed in, or else the device. */
const SOURCE = "iif(session_user = '', device_id, session_user)";
const GROUP: Record<ReadBy, string> = {
  model: MODEL,
  repo: "repo_key",
  branch: "iif(branch = '', session_branch, branch)",
  agent: "session_agent",
  device: "device_id",
  source: SOURCE,
  session: "session",
  day: "day",
};
/** By `total`, which has no largest value: agents make up figures. */
const SUMS = list((name) => `total(${column(name)}) AS ${name}`);
const COUNTS = "team_id = @teamId AND day BETWEEN @from AND @to AND counts AND (usages > 0 OR reported > 0)";
const OF_ALL = `FROM spend_cells WHERE ${COUNTS}`;
/** By the index that holds the columns to narrow by: otherwise every cell would be looked up. */
const NARROWED = `FROM spend_cells INDEXED BY spend_cells_by_day WHERE ${COUNTS} AND (@repoKey IS NULL OR repo_key = @repoKey)
  AND (@deviceIds IS NULL OR device_id IN (SELECT value FROM json_each(@deviceIds)))
  AND (@sources IS NULL OR ${SOURCE} IN (SELECT value FROM json_each(@sources)))`;
/** A day's sessions are many, so they are summed in parts. The beginning and the end of a session's name tell its part. */
const PART = `ifnull((unicode(session) + 31 * unicode(substr(session, -1)) + 17 * unicode(substr(session, -2)) + 7 * unicode(substr(session, -3))
  + 3 * unicode(substr(session, -4)) + length(session)) % @parts, 0) = @part`;
const sumsBy = (by: ReadBy, cells: string) => {
  const ofDevice = by === "session" ? "device_id" : "''";
  const groups = [GROUP[by], ...(by === "session" ? [ofDevice] : []), MODEL, "context"].join(", ");
  return `SELECT ${GROUP[by]} AS key, ${ofDevice} AS ofDevice, ${MODEL} AS model, context, ${SUMS} ${cells}${by === "session" ? ` AND ${PART}` : ""} GROUP BY ${groups}`;
};
/** The same of a whole team, by days that are summed already. */
const OF_TEAM = `SELECT day AS key, '' AS ofDevice, model, context, ${MEMBERS} FROM spend_days
  WHERE team_id = @teamId AND day BETWEEN @from AND @to`;
const REPORT = `SELECT usage_key AS key, source, cell_id AS cellId, times, ${MEMBERS} FROM spend_usages`;
/** Values in their places, those of `MEASURES` last: there are many, and names would have to be looked up for each. */
const ADD_REPORT = `INSERT INTO spend_usages (team_id, usage_key, source, cell_id, times, ${COLUMNS}) VALUES (?, ?, ?, ?, ?, ${list(() => "?")})
  ON CONFLICT (team_id, usage_key, source, cell_id) DO UPDATE SET`;
const MAX = Number.MAX_SAFE_INTEGER;
/** Sums stay between 0 and the largest exact integer, whatever figures agents make up. */
const ADDED = list((name) => `${column(name)} = max(0, min(${column(name)} + @${name}, ${MAX}))`);

interface Range {
  readonly teamId: string;
  readonly from: number;
  readonly to: number;
  readonly repoKey: string | null;
  /** JSON arrays; null for all. */
  readonly deviceIds: string | null;
  readonly sources: string | null;
  /** How many parts a day's sessions are summed in, and which of them. */
  readonly parts: number;
  readonly part: number;
}

/** A session of a device, and what it says of itself. */
interface Named {
  readonly deviceId: string;
  readonly session: string;
  readonly branch: string;
  readonly model: string;
  readonly agent: string;
  readonly user: string;
}

/** A cell whose facts differ from its session's; `ownModel` is the model of its records. */
interface CellToName extends Omit<DayOfModel, "teamId" | "model">, Measures {
  readonly id: number;
  readonly ownModel: string;
  readonly sessionModel: string;
  readonly counts: number;
}

const OTHERWISE_NAMED = `device_id = @deviceId AND session = @session
  AND (session_branch <> @branch OR session_model <> @model OR session_agent <> @agent OR session_user <> @user)`;

/** Team, key, source, cell, times and measures of a report. */
type ReportValues = [string, Buffer, number, number, number, ...number[]];

export const rows = statements((db) => {
  const sums = (cells: string) => {
    const by = (one: ReadBy) => db.prepare<[Range], GroupRow>(sumsBy(one, cells));
    const [model, repo, branch, agent] = [by("model"), by("repo"), by("branch"), by("agent")];
    return {
      model,
      repo,
      branch,
      agent,
      device: by("device"),
      source: by("source"),
      session: by("session"),
      day: by("day"),
    };
  };
  return {
    // Within spend_cells_by_day.
    cellsOfDay: db
      .prepare<[string, number], number>("SELECT count(*) FROM spend_cells WHERE team_id = ? AND day = ?")
      .pluck(),
    // By spend_cells_by_day, whole.
    cell: db
      .prepare<[Dimensions], number>(
        `SELECT id FROM spend_cells WHERE team_id = @teamId AND day = @day AND repo_key = @repoKey AND branch = @branch AND model = @model
           AND device_id = @deviceId AND session = @session AND context = @context AND otlp = @otlp`,
      )
      .pluck(),
    // By primary key.
    dimensions: db.prepare<[number], Dimensions>(
      `SELECT team_id AS teamId, day, repo_key AS repoKey, branch, model, device_id AS deviceId, session, context, otlp
       FROM spend_cells WHERE id = ?`,
    ),
    insertCell: db.prepare<
      [Dimensions & { sessionBranch: string; sessionModel: string; sessionAgent: string; sessionUser: string }]
    >(
      `INSERT INTO spend_cells (team_id, day, repo_key, branch, model, device_id, session, context, otlp, session_branch, session_model, session_agent, session_user, ${COLUMNS})
       VALUES (@teamId, @day, @repoKey, @branch, @model, @deviceId, @session, @context, @otlp, @sessionBranch, @sessionModel, @sessionAgent, @sessionUser, ${list(() => "0")})`,
    ),
    // Both by primary key.
    cellById: db.prepare<[number], Measures & { readonly sessionModel: string; readonly counts: number }>(
      `SELECT session_model AS sessionModel, counts, ${MEMBERS} FROM spend_cells WHERE id = ?`,
    ),
    setCell: db.prepare<[Measures & { id: number }]>(
      `UPDATE spend_cells SET ${list((name) => `${column(name)} = @${name}`)} WHERE id = @id`,
    ),
    // By spend_cells_of_team; of what was exported, what no longer counts and what counts again.
    toSettle: db.prepare<
      [OfTeam],
      Omit<DayOfModel, "teamId"> & Measures & { id: number; deviceId: string; counts: number }
    >(
      `SELECT id, device_id AS deviceId, counts, day, ${MODEL} AS model, context, ${MEMBERS} FROM spend_cells
       WHERE team_id = @teamId AND session = @session AND otlp = 1
         AND counts = EXISTS (SELECT 1 FROM spend_cells AS other WHERE other.team_id = @teamId AND other.session = @session
           AND other.otlp <> 1 AND (other.usages > 0 OR other.reported > 0))`,
    ),
    // By primary key.
    setCounts: db.prepare<[number, number]>("UPDATE spend_cells SET counts = ? WHERE id = ?"),
    // Both by spend_cells_by_session.
    toBeNamed: db.prepare<[Named & { after: number }], CellToName>(
      `SELECT id, day, model AS ownModel, session_model AS sessionModel, context, counts, ${MEMBERS} FROM spend_cells
       WHERE ${OTHERWISE_NAMED} AND id > @after ORDER BY id LIMIT 500`,
    ),
    nameCells: db.prepare<[Named & { after: number; upTo: number }]>(
      `UPDATE spend_cells SET session_branch = @branch, session_model = @model, session_agent = @agent, session_user = @user
       WHERE ${OTHERWISE_NAMED} AND id > @after AND id <= @upTo`,
    ),
    // By spend_cells_by_session.
    cellsOfSession: db.prepare<
      [OfSession & { after: number; limit: number }],
      CellRow & { id: number; counts: number }
    >(
      `SELECT id, counts, day, ${MODEL} AS model, context, ${MEMBERS} FROM spend_cells
       WHERE device_id = @deviceId AND session = @session AND id > @after ORDER BY id LIMIT @limit`,
    ),
    // Both a step within spend_cells_by_session, past however many cells; the team by primary key.
    sessionAfter: db.prepare<[OfSession], OfTeamSession>(
      `SELECT team_id AS teamId, device_id AS deviceId, session FROM spend_cells
       WHERE device_id = @deviceId AND session > @session ORDER BY session LIMIT 1`,
    ),
    sessionOfNextDevice: db.prepare<[OfSession], OfTeamSession>(
      `SELECT team_id AS teamId, device_id AS deviceId, session FROM spend_cells
       WHERE device_id > @deviceId ORDER BY device_id, session LIMIT 1`,
    ),
    // All of a table of one row.
    pricing: db.prepare<[], string>("SELECT version FROM spend_pricing WHERE id = 1").pluck(),
    setPricing: db.prepare<[string]>(
      "INSERT INTO spend_pricing (id, version) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET version = excluded.version",
    ),
    endPricing: db.prepare<[string, string]>("UPDATE spend_pricing SET version = ? WHERE version = ?"),
    forgetPricing: db.prepare<[string, string]>("DELETE FROM spend_pricing WHERE version NOT IN (?, ?)"),
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
    firstWithin: db.prepare<[string, Buffer, Buffer, number], StoredRow>(
      `${REPORT} WHERE team_id = ? AND usage_key BETWEEN ? AND ? LIMIT ?`,
    ),
    twoLinks: db
      .prepare<[string, Buffer, Buffer], Buffer>(
        "SELECT DISTINCT usage_key FROM spend_usages WHERE team_id = ? AND usage_key > ? AND usage_key <= ? LIMIT 2",
      )
      .pluck(),
    // Both by the primary key, whole.
    putReport: db.prepare<ReportValues>(
      `${ADD_REPORT} times = excluded.times, ${list((name) => `${column(name)} = excluded.${column(name)}`)}`,
    ),
    repeatReport: db.prepare<ReportValues>(`${ADD_REPORT} times = times + excluded.times`),
    dropReport: db.prepare<[string, Buffer, number, number]>(
      "DELETE FROM spend_usages WHERE team_id = ? AND usage_key = ? AND source = ? AND cell_id = ?",
    ),
    dropUnreported: db.prepare<[string, Buffer, number, number]>(
      "DELETE FROM spend_usages WHERE team_id = ? AND usage_key = ? AND source = ? AND cell_id = ? AND times <= 0",
    ),
    reportFrom: db.prepare<[string, Buffer, number, number], StoredRow>(
      `${REPORT} WHERE team_id = ? AND usage_key = ? AND source = ? AND cell_id = ?`,
    ),
    // By spend_usages_by_source.
    ofSession: db.prepare<[{ source: number; teamId: string; key: Buffer; cellId: number; limit: number }], StoredRow>(
      `${REPORT} WHERE source = @source AND source > 0 AND team_id = @teamId AND (usage_key, cell_id) > (@key, @cellId)
       ORDER BY usage_key, cell_id LIMIT @limit`,
    ),
    // By spend_cells_by_model or spend_cells_by_day: the team and the range of days.
    sums: sums(OF_ALL),
    narrowedSums: sums(NARROWED),
    // By spend_days' primary key.
    daysOfTeam: db.prepare<[Pick<Range, "teamId" | "from" | "to">], GroupRow>(OF_TEAM),
    // Within it.
    nextDay: db
      .prepare<[string, number, number], number | null>(
        "SELECT min(day) FROM spend_days WHERE team_id = ? AND day BETWEEN ? AND ?",
      )
      .pluck(),
    // Both by the primary key, whole.
    addToDay: db.prepare<[DayOfModel & Measures]>(
      `INSERT INTO spend_days (team_id, day, model, context, ${COLUMNS})
       VALUES (@teamId, @day, @model, @context, ${list((name) => `max(0, @${name})`)})
       ON CONFLICT (team_id, day, model, context) DO UPDATE SET ${ADDED}`,
    ),
    dropEmptyDay: db.prepare<[DayOfModel]>(
      `DELETE FROM spend_days WHERE team_id = @teamId AND day = @day AND model = @model AND context = @context
         AND usages = 0 AND reported = 0`,
    ),
    dropDays: db.prepare<[]>("DELETE FROM spend_days"),
    dropReports: db.prepare<[]>("DELETE FROM spend_usages"),
    dropCells: db.prepare<[]>("DELETE FROM spend_cells"),
  };
});
