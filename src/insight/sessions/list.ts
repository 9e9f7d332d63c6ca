import type { Core } from "../../core.ts";
import type { OutcomeKind } from "../../formats/outcomes.ts";
import type { Key, Page, Towards } from "../../kit/page.ts";
import { type Budget, type Chunk, isSpent, scanPage } from "../../kit/scan-page.ts";
import { cooperative } from "../../kit/yield.ts";
import { textFinder } from "../../record/traces/traces.ts";
import { type ListRow, listRows, type Narrowed, type SortBy } from "./list-rows.ts";
import { NO_START } from "./rows.ts";

/** Which sessions are shown. Absent members do not narrow. Instants are of the start; `from` is included, `to` is not. */
export interface SessionFilter {
  readonly repoKey?: string | undefined;
  /** Of any of these devices. */
  readonly deviceIds?: readonly string[] | undefined;
  /** As the agent called it. */
  readonly outcome?: string | undefined;
  /** What that comes to. */
  readonly result?: OutcomeKind | undefined;
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
  readonly branch?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** Dollars at list prices; sessions without a price cost less than any. */
  readonly minUsd?: number | undefined;
  /** Failed steps and entries of errors files put down to it, together. */
  readonly minErrors?: number | undefined;
  /** Stands somewhere in the session's document (its prompts, files, …; not its spans), in any case. */
  readonly text?: string | undefined;
}

/** A session of a list. */
export interface SessionItem extends Omit<ListRow, "place" | "startedAt" | "duration" | "costNano" | "result"> {
  readonly result: OutcomeKind;
  /** Milliseconds since the epoch; null where nobody said. */
  readonly startedAt: number | null;
  readonly duration: number | null;
  /** Dollars at list prices; null where nothing of it has a price. */
  readonly usd: number | null;
}

export interface SessionsQuery extends SessionFilter {
  /** `started` by default. */
  readonly sort?: SortBy | undefined;
  /** The lowest first. */
  readonly ascending?: boolean | undefined;
  readonly cursor?: string | undefined;
  /** 1 to 200, 50 by default. */
  readonly limit?: number | undefined;
}

export interface SessionPage extends Page<SessionItem> {
  /** Looking stopped before the page was full; `older` (or `newer`) goes on. */
  readonly partial: boolean;
}

/** Sessions that lists and sums look at: a team's newest. */
export const MAX_EXAMINED = 100_000;
/** What one page may look through for a text: sessions, and characters of them. */
const MAX_SEARCHED = { sessions: 20_000, chars: 64_000_000 };
type Spending = keyof typeof MAX_SEARCHED;
const SEARCHED_AT_ONCE = 100;

/** A page of a team's sessions. `older` is what follows in the order asked for. */
export async function findSessions(core: Core, teamId: string, query: SessionsQuery = {}): Promise<SessionPage> {
  const looksFor = query.text ? textFinder(core, query.text) : undefined;
  const {
    rows,
    stoppedAt,
    left: _,
    ...links
  } = await scanPage<ListRow, Chunk<ListRow>, Spending>({
    cursor: query.cursor,
    limit: query.limit,
    parts: 2,
    budget: MAX_SEARCHED,
    keyOf,
    walk: walkSessions.bind(null, core, teamId, query),
    matches(row, budget) {
      if (!looksFor) return true;
      const { found, chars } = looksFor(row.id);
      budget.chars -= chars;
      return found;
    },
  });
  return { rows: rows.map(itemOf), ...links, partial: stoppedAt !== undefined };
}

const keyOf = ({ place, id }: ListRow): Key => [place, id];

async function* walkSessions(
  core: Core,
  teamId: string,
  query: SessionsQuery,
  towards: Towards,
  start: Key | undefined,
  budget: Budget<Spending>,
  size: number,
): AsyncGenerator<Chunk<ListRow>> {
  const count = query.text ? SEARCHED_AT_ONCE : size + 1;
  const up = (towards === "older") === (query.ascending ?? false);
  const yieldNow = cooperative(core.clock);
  const narrowed = narrowedTo(core, teamId, query);
  let at = start ?? outermost(narrowed, query, up);
  for (;;) {
    const rows = rowsBeyond(core, narrowed, query, at, up, count);
    for (const row of rows) {
      if (isSpent(budget)) return;
      at = keyOf(row);
      budget.sessions--;
      yield { rows: [row], at };
      await yieldNow();
    }
    if (rows.length < count) return;
  }
}

/** Rows beyond a place, nearest first, no more than are wanted: fewer where nothing follows them. */
function rowsBeyond(
  core: Core,
  narrowed: Narrowed,
  { sort = "started", repoKey }: SessionsQuery,
  at: Key,
  up: boolean,
  count: number,
): ListRow[] {
  const sql = listRows(core.store);
  const walks = sort === "started" && repoKey !== undefined ? sql.startedInRepo : sql.walks[sort];
  const { near, edge, far } = walks[up ? "ASC" : "DESC"];
  const range = { ...narrowed, place: at[0] as number, id: at[1] as number, count };
  const rows = near.all(range);
  const last = rows.length < count && edge.get(range);
  return last ? [...rows, ...far.all({ ...range, ...last, count: count - rows.length })] : rows;
}

/** Where a walk begins that nobody gave a place: with the days asked for, where it goes by days. */
function outermost({ from, to }: Narrowed, { sort = "started" }: SessionsQuery, up: boolean): Key {
  if (sort === "started") return up ? [from, -1] : [to, -1];
  return up ? [NO_START, -1] : [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];
}

/** Billionths of a dollar. */
const NANO = 1e9;

/** A filter as statements take it; a team's newest 100,000 sessions before its end are looked at. */
export function narrowedTo(core: Core, teamId: string, filter: SessionFilter): Narrowed {
  const { repoKey, deviceIds, outcome, result, agent, model, branch, minUsd, minErrors } = filter;
  const { from = NO_START, to = Number.MAX_SAFE_INTEGER } = filter;
  const oldest = listRows(core.store).oldest.get({ teamId, to, most: MAX_EXAMINED });
  return {
    teamId,
    repoKey: repoKey ?? null,
    deviceIds: deviceIds ? JSON.stringify(deviceIds) : null,
    outcome: outcome ?? null,
    result: result ?? null,
    agent: agent ?? null,
    model: model ?? null,
    branch: branch ?? null,
    from: Math.max(from, oldest ?? NO_START),
    to,
    minCost: minUsd === undefined ? null : Math.min(Number.MAX_SAFE_INTEGER, Math.round(minUsd * NANO)),
    minErrors: minErrors ?? null,
  };
}

export const usdOfNano = (nano: number): number | null => (nano < 0 ? null : nano / NANO);

function itemOf({ place: _, startedAt, duration, costNano, result, ...row }: ListRow): SessionItem {
  return {
    ...row,
    result: result as OutcomeKind,
    startedAt: startedAt === NO_START ? null : startedAt,
    duration: duration < 0 ? null : duration,
    usd: usdOfNano(costNano),
  };
}
