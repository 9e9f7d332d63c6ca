import { type Preparer, statements } from "../../platform/store/store.ts";
import type { SaidRow } from "./rows.ts";

/** A session as lists show it. */
export interface ListRow extends Omit<SaidRow, "teamId" | "sessionId"> {
  readonly id: number;
  readonly caused: number;
  readonly tokens: number;
  readonly unpriced: number;
  /** Billionths of a dollar; -1 where nothing of it has a price. */
  readonly costNano: number;
  /** What it is ordered by. */
  readonly place: number;
}

/** Which sessions; null narrows by nothing. */
export interface Narrowed {
  readonly teamId: string;
  readonly repoKey: string | null;
  /** JSON arrays; for `sources` see `sourcesOf`. */
  readonly deviceIds: string | null;
  readonly sources: string | null;
  readonly outcome: string | null;
  readonly result: string | null;
  readonly agent: string | null;
  readonly model: string | null;
  readonly branch: string | null;
  /** Starts: the first, and the one after the last. */
  readonly from: number;
  readonly to: number;
  readonly minCost: number | null;
  readonly minErrors: number | null;
}

/** Beyond a place, as many rows as are wanted at most. */
interface Range extends Narrowed {
  readonly place: number;
  readonly id: number;
  readonly count: number;
}

interface Place {
  readonly place: number;
  readonly id: number;
}

/** Sums of sessions. */
export interface SumRow {
  readonly sessions: number;
  readonly succeeded: number;
  readonly failed: number;
  /** That came to an end which is neither. */
  readonly stopped: number;
  /** Billionths of a dollar, of those that have a price. */
  readonly costNano: number;
  readonly priced: number;
  readonly unpriced: number;
  /** As the sessions name them: one that two made counts twice. */
  readonly commits: number;
}

/** What a repository's sessions come to. */
export interface RepoSums {
  readonly repoKey: string;
  readonly sessions: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly stopped: number;
  /** When the last one began. */
  readonly lastAt: number;
}

/** Sessions that began on a day, since the epoch, and came to the same. */
export interface DayRow {
  readonly day: number;
  readonly result: string;
  readonly sessions: number;
}

/** What sessions are ordered by, each by an index of its own. */
const PLACES = {
  started: "started_at",
  duration: "duration",
  cost: "cost_nano",
  errors: "failed_steps + caused",
  tokens: "tokens",
} as const;
export type SortBy = keyof typeof PLACES;
export const SORTS = Object.keys(PLACES) as SortBy[];

const COLUMNS = `session_id AS id, external_id AS externalId, device_id AS deviceId, repo_key AS repoKey, branch, agent, model, outcome,
  result, title, started_at AS startedAt, duration, commits, failed_steps AS failedSteps, user_email AS userEmail, caused, tokens, unpriced, cost_nano AS costNano`;

const FILTERS = `(@outcome IS NULL OR outcome = @outcome) AND (@result IS NULL OR result = @result)
  AND (@agent IS NULL OR agent = @agent) AND (@model IS NULL OR model = @model) AND (@branch IS NULL OR branch = @branch)
  AND (@deviceIds IS NULL OR device_id IN (SELECT value FROM json_each(@deviceIds)))
  AND (@sources IS NULL OR iif(user_email = '', device_id, user_email) IN (SELECT value FROM json_each(@sources)))
  AND (@minCost IS NULL OR cost_nano >= @minCost) AND (@minErrors IS NULL OR failed_steps + caused >= @minErrors)
  AND (@repoKey IS NULL OR repo_key = @repoKey)`;
const DAYS = "started_at >= @from AND started_at < @to";

const SUMS = `count(*) AS sessions, ifnull(sum(result = 'succeeded'), 0) AS succeeded, ifnull(sum(result = 'failed'), 0) AS failed,
  ifnull(sum(result = 'stopped'), 0) AS stopped,
  total(max(cost_nano, 0)) AS costNano, ifnull(sum(cost_nano >= 0), 0) AS priced, ifnull(sum(unpriced > 0), 0) AS unpriced,
  ifnull(sum(commits), 0) AS commits`;

const OF_TEAM = "team_id = @teamId AND session_id IS NOT NULL";
const OF_REPO = `${OF_TEAM} AND repo_key = @repoKey`;
/** Sessions of some devices, read device by device. The unary plus keeps the planner from other indexes, whatever ANALYZE found. */
const WITHIN_DEVICES = `(SELECT DISTINCT value AS device FROM json_each(@deviceIds)) CROSS JOIN session_figures
  WHERE device_id = device AND +team_id = @teamId AND +session_id IS NOT NULL`;
const DAYS_OF_FEW = "+started_at >= @from AND +started_at < @to";

/** Sessions that are read by their devices, however few of them a list shows. */
const FEW = 3_000;

/** Rows that are walked over before a filter that few pass is answered from all of them. */
const WINDOW = 2_000;

/**
 * Three ways beyond a place. `near` walks the index of the order over a window and no further: what most lists need is there. `edge`
 * is the window's last row. `far` looks at all rows from a start on, by the index of starts, beside which they lie in the table, and
 * puts what the filter leaves in order. Of many that a text is looked for in, the keys alone are read.
 */
function walk(db: Preparer, by: SortBy, within: string, direction: "DESC" | "ASC") {
  const place = PLACES[by];
  const further = `${direction === "DESC" ? "<" : ">"} (@place, @id)`;
  const beyond = `(${place}, session_id) ${further}`;
  const order = `${direction}, session_id ${direction}`;
  // The plus keeps the planner from walking the index of the order, row by row all over the table.
  const sorted = by === "started" ? place : `+${place}`;
  const beyondPlace = (columns: string) => ({
    near: db.prepare<[Range], ListRow>(
      `SELECT ${columns}, place FROM (SELECT *, ${place} AS place FROM ${within}
         AND ${beyond} ORDER BY ${place} ${order} LIMIT ${WINDOW})
       WHERE ${DAYS} AND ${FILTERS} LIMIT (SELECT @count)`,
    ),
    far: db.prepare<[Range], ListRow>(
      `SELECT ${columns}, ${place} AS place FROM ${within} AND ${DAYS} AND ${beyond} AND ${FILTERS}
       ORDER BY ${sorted} ${order} LIMIT (SELECT @count)`,
    ),
  });
  return {
    // By session_figures' unique index (device_id, external_id).
    ofFew: db.prepare<[Range], ListRow>(
      `SELECT ${COLUMNS}, ${place} AS place FROM ${WITHIN_DEVICES} AND ${DAYS_OF_FEW} AND (+(${place}), +session_id) ${further}
         AND ${FILTERS} ORDER BY ${sorted} ${order} LIMIT (SELECT @count)`,
    ),
    rows: beyondPlace(COLUMNS),
    keys: beyondPlace("session_id AS id"),
    edge: db.prepare<[Range], Place>(
      `SELECT ${place} AS place, session_id AS id FROM ${within} AND ${beyond}
       ORDER BY ${place} ${order} LIMIT 1 OFFSET ${WINDOW - 1}`,
    ),
    // By session_figures_by_session.
    some: db.prepare<[string], ListRow>(
      `SELECT ${COLUMNS}, ${place} AS place FROM session_figures WHERE session_id IN (SELECT value FROM json_each(?))`,
    ),
  };
}

type FacetRow = Pick<ListRow, "repoKey" | "deviceId" | "userEmail" | "outcome" | "agent" | "model" | "branch">;
const FACETS = `SELECT repo_key AS repoKey, device_id AS deviceId, user_email AS userEmail, outcome, agent, model, branch`;
type FacetsOf = Pick<Narrowed, "teamId" | "deviceIds"> & { readonly most: number };
/** A team's newest sessions among which those of some devices that sent many are looked for. */
const FACETED_EXAMINED = 10_000;

export const listRows = statements((db) => {
  const walks = (by: SortBy, within = `session_figures WHERE ${OF_TEAM}`) => ({
    DESC: walk(db, by, within, "DESC"),
    ASC: walk(db, by, within, "ASC"),
  });
  const sums = (where: string, within = "session_figures WHERE") =>
    db.prepare<[Narrowed], SumRow>(`SELECT ${SUMS} FROM ${within} ${where}`);
  return {
    // Each by the index of its name, and by session_figures_by_start.
    walks: {
      started: walks("started"),
      duration: walks("duration"),
      cost: walks("cost"),
      errors: walks("errors"),
      tokens: walks("tokens"),
    },
    // By session_figures_by_repo, which is named: the planner takes the index of starts for those of days.
    startedInRepo: walks("started", `session_figures INDEXED BY session_figures_by_repo WHERE ${OF_REPO}`),
    // Within session_figures_by_start: the start before which nothing is looked at.
    highest: db.prepare<[], number | null>("SELECT max(id) FROM session_figures").pluck(),
    oldest: db
      .prepare<[{ teamId: string; to: number; most: number }], number>(
        `SELECT started_at FROM session_figures WHERE ${OF_TEAM} AND started_at < @to ORDER BY started_at DESC LIMIT 1 OFFSET (SELECT @most)`,
      )
      .pluck(),
    // By session_figures_by_start; sums by session_figures_by_repo where they are of one. Filters that are not set cost as much as all else.
    nextStart: db
      .prepare<[string, number, number], number | null>(
        `SELECT min(started_at) FROM session_figures WHERE team_id = ? AND session_id IS NOT NULL AND started_at >= ? AND started_at < ?`,
      )
      .pluck(),
    // Both by session_figures' unique index (device_id, external_id).
    areFew: db
      .prepare<[string], 0 | 1>(
        `SELECT count(*) <= ${FEW} FROM (SELECT 1 FROM session_figures WHERE device_id IN (SELECT value FROM json_each(?)) LIMIT ${FEW + 1})`,
      )
      .pluck(),
    sumsOfFew: sums(`AND ${DAYS_OF_FEW} AND ${FILTERS}`, WITHIN_DEVICES),
    sums: sums(`${OF_TEAM} AND ${DAYS}`),
    sumsOfRepo: sums(`${OF_REPO} AND ${DAYS}`),
    sumsFiltered: sums(`${OF_TEAM} AND ${DAYS} AND ${FILTERS}`),
    sumsOfRepoFiltered: sums(`${OF_REPO} AND ${DAYS} AND ${FILTERS}`),
    // By session_figures_by_start, from its end, no further than the bound.
    newest: db.prepare<[FacetsOf], FacetRow>(
      `${FACETS} FROM (SELECT * FROM session_figures WHERE ${OF_TEAM} ORDER BY started_at DESC, session_id DESC LIMIT ${FACETED_EXAMINED})
       WHERE @deviceIds IS NULL OR device_id IN (SELECT value FROM json_each(@deviceIds)) LIMIT (SELECT @most)`,
    ),
    // By session_figures' unique index: all sessions of the devices.
    newestOfFew: db.prepare<[FacetsOf], FacetRow>(
      `${FACETS} FROM ${WITHIN_DEVICES} ORDER BY started_at DESC, session_id DESC LIMIT (SELECT @most)`,
    ),
    // By session_figures_by_start, from a start to another.
    repos: db.prepare<[string, number, number, number], RepoSums>(
      `SELECT repo_key AS repoKey, count(*) AS sessions, sum(result = 'succeeded') AS succeeded, sum(result = 'failed') AS failed,
         sum(result = 'stopped') AS stopped, max(started_at) AS lastAt
       FROM session_figures WHERE team_id = ? AND session_id IS NOT NULL AND started_at >= ? AND started_at < ? GROUP BY repo_key LIMIT ?`,
    ),
    // By session_figures_by_repo.
    days: db.prepare<[{ teamId: string; repoKey: string; from: number; to: number }], DayRow>(
      `SELECT started_at / 86400000 AS day, result, count(*) AS sessions FROM session_figures
       WHERE ${OF_REPO} AND ${DAYS} GROUP BY day, result`,
    ),
    // By session_figures_by_session.
    title: db
      .prepare<[number], string>("SELECT coalesce(title, external_id) FROM session_figures WHERE session_id = ?")
      .pluck(),
    // By session_figures' unique index (device_id, external_id).
    named: db.prepare<[string, string], { id: number | null; title: string | null }>(
      "SELECT session_id AS id, title FROM session_figures WHERE device_id = ? AND external_id = ?",
    ),
  };
});
