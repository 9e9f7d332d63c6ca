import type { Core } from "../../core.ts";
import type { OutcomeKind } from "../../formats/outcomes.ts";
import type { Key, Page, Towards } from "../../kit/page.ts";
import { type Budget, type Chunk, isSpent, scanPage } from "../../kit/scan-page.ts";
import { cooperative } from "../../kit/yield.ts";
import { textFinder } from "../../record/traces/traces.ts";
import { type ListRow, listRows, type Narrowed, type SortBy } from "./list-rows.ts";
import { NO_START } from "./rows.ts";
import { isOfFew, whereAny } from "./stretch-sums.ts";

/** Which sessions are shown. Absent members do not narrow. Instants are of the start; `from` is included, `to` is not. */
export interface SessionFilter {
  readonly repoKey?: string | undefined;
  /** Of any of these devices. */
  readonly deviceIds?: readonly string[] | undefined;
  /** Of any of these, as `sourcesOf` names them. */
  readonly sources?: readonly string[] | undefined;
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
  /** Sessions that were looked at for it. */
  readonly examined: number;
}

/** Sessions that lists and sums look at: a team's newest. */
const MAX_EXAMINED = 100_000;
/** Sessions that are looked at in one go. */
const STRETCH = 5_000;
/** What one page may look through for a text: sessions, and characters of them. */
const MAX_SEARCHED = { sessions: 10_000, chars: 16_000_000 };
type Spending = keyof typeof MAX_SEARCHED;
const SEARCHED_AT_ONCE = 400;

/** A page of a team's sessions. `older` is what follows in the order asked for. */
export async function findSessions(core: Core, teamId: string, query: SessionsQuery = {}): Promise<SessionPage> {
  const walk = query.text ? searchSessions : walkSessions;
  const { rows, stoppedAt, left, ...links } = await scanPage<ListRow, Chunk<ListRow>, Spending>({
    cursor: query.cursor,
    limit: query.limit,
    parts: 2,
    budget: MAX_SEARCHED,
    keyOf,
    walk: walk.bind(null, core, teamId, query),
    matches: () => true,
  });
  const examined = MAX_SEARCHED.sessions - left.sessions;
  return { rows: rows.map(itemOf), ...links, partial: stoppedAt !== undefined, examined };
}

const keyOf = ({ place, id }: Pick<ListRow, "place" | "id">): Key => [place, id];

async function* walkSessions(
  core: Core,
  teamId: string,
  query: SessionsQuery,
  towards: Towards,
  start: Key | undefined,
  budget: Budget<Spending>,
  size: number,
): AsyncGenerator<Chunk<ListRow>> {
  const up = isUp(query, towards);
  const narrowed = narrowedTo(core, teamId, query);
  const at = start ?? outermost(narrowed, query, up);
  const near = nearest(core, narrowed, query, at, up, size + 1, "rows");
  // When the nearest thousands of rows hold too few, the kept sums of days tell whether there are others, and on which days.
  const others = near.beyond && (await whereAny(core, narrowed));
  const far = others && near.beyond ? await near.beyond({ from: others.from, to: others.to }) : [];
  const rows = [...near.rows, ...far];
  budget.sessions -= rows.length;
  const last = rows.at(-1);
  if (last) yield { rows, at: keyOf(last) };
}

/** The same with a text in them: looked for in some hundred at once, and no longer than the budget lasts. */
async function* searchSessions(
  core: Core,
  teamId: string,
  query: SessionsQuery,
  towards: Towards,
  start: Key | undefined,
  budget: Budget<Spending>,
): AsyncGenerator<Chunk<ListRow>> {
  const up = isUp(query, towards);
  const yieldNow = cooperative(core.clock);
  const narrowed = narrowedTo(core, teamId, query);
  const looksFor = textFinder(core, query.text ?? "");
  let at = start ?? outermost(narrowed, query, up);
  while (!isSpent(budget)) {
    const near = nearest(core, narrowed, query, at, up, SEARCHED_AT_ONCE, "keys");
    const keys = [...near.rows, ...((await near.beyond?.({})) ?? [])];
    const last = keys.at(-1);
    if (!last) return;
    at = keyOf(last);
    const { found, chars } = looksFor(keys.map(({ id }) => id));
    budget.sessions -= keys.length;
    budget.chars -= chars;
    yield {
      rows: rowsOf(
        core,
        query,
        keys.filter(({ id }) => found.has(id)),
      ),
      at,
    };
    if (keys.length < SEARCHED_AT_ONCE) return;
    await yieldNow();
  }
}

const isUp = ({ ascending = false }: SessionsQuery, towards: Towards) => (towards === "older") === ascending;

/** What tells rows apart, and their order. */
type RowKey = Pick<ListRow, "place" | "id">;

type Days = Pick<Narrowed, "from" | "to">;

interface Near<Row> {
  readonly rows: readonly Row[];
  /** The further rows that are wanted, from all there are; absent where there can be none. @param days starts that they have */
  readonly beyond?: (days: Partial<Days>) => Promise<readonly Row[]>;
}

/** Rows beyond a place, nearest first, no more than are wanted: those of the nearest thousands. */
function nearest<What extends "rows" | "keys">(
  core: Core,
  narrowed: Narrowed,
  { sort = "started", repoKey }: SessionsQuery,
  at: Key,
  up: boolean,
  count: number,
  what: What,
): Near<What extends "rows" ? ListRow : RowKey> {
  const sql = listRows(core.store);
  const walks = sort === "started" && repoKey !== undefined ? sql.startedInRepo : sql.walks[sort];
  const { [what]: read, edge, ofFew } = walks[up ? "ASC" : "DESC"];
  const range = { ...narrowed, place: at[0] as number, id: at[1] as number, count };
  if (isOfFew(core, narrowed)) return { rows: ofFew.all(range) };
  const rows = read.near.all(range);
  const last = rows.length < count && edge.get(range);
  if (!last) return { rows };
  const rest = { ...range, ...last, count: count - rows.length };
  return {
    rows,
    async beyond(days) {
      const stretches = stretchesOf(core, { ...narrowed, ...days });
      const yieldNow = cooperative(core.clock);
      let found: (ListRow & RowKey)[] = [];
      for (const stretch of up ? stretches.toReversed() : stretches) {
        found.push(...read.far.all({ ...rest, ...stretch }));
        if (sort !== "started") found = found.sort(inOrder(up)).slice(0, rest.count);
        else if (found.length >= rest.count) break;
        await yieldNow();
      }
      return found.slice(0, rest.count);
    },
  };
}

const inOrder = (up: boolean) => (a: RowKey, b: RowKey) => (a.place - b.place || a.id - b.id) * (up ? 1 : -1);

/** Days in stretches of a team's sessions that are looked at in one go, the newest first. */
function stretchesOf(core: Core, { teamId, from, to }: Narrowed): Days[] {
  const stretches: Days[] = [];
  for (let end = to; end > from; ) {
    const start = listRows(core.store).oldest.get({ teamId, to: end, most: STRETCH }) ?? from;
    stretches.push({ from: Math.max(start, from), to: end });
    end = start;
  }
  return stretches;
}

/** The rows of some keys, in their order. */
function rowsOf(core: Core, { sort = "started" }: SessionsQuery, keys: readonly RowKey[]): ListRow[] {
  if (keys.length === 0) return [];
  const rows = listRows(core.store).walks[sort].DESC.some.all(JSON.stringify(keys.map(({ id }) => id)));
  const byId = new Map(rows.map((row) => [row.id, row]));
  return keys.flatMap(({ id }) => byId.get(id) ?? []);
}

/** Where the first page begins: at the bound of the days asked for when sessions are ordered by their start, else at the very end. */
function outermost({ from, to }: Narrowed, { sort = "started" }: SessionsQuery, up: boolean): Key {
  if (sort === "started") return up ? [from, -1] : [to, -1];
  return up ? [NO_START, -1] : [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];
}

/** Billionths in a dollar. */
const NANO = 1e9;

/** The first start that a filter lets through. A session without a start is of no days, whether days are asked for from one on or until one. */
export const firstStart = ({ from, to }: SessionFilter): number => from ?? (to === undefined ? NO_START : NO_START + 1);

/** A filter as statements take it; a team's newest 100,000 sessions before its end are looked at. */
export function narrowedTo(core: Core, teamId: string, filter: SessionFilter): Narrowed {
  const { repoKey, deviceIds, sources, outcome, result, agent, model, branch, minUsd, minErrors } = filter;
  const from = firstStart(filter);
  const { to = Number.MAX_SAFE_INTEGER } = filter;
  const { highest, oldest: oldestOf } = listRows(core.store);
  // Counting from the newest takes its time, and mostly there are fewer.
  const oldest = (highest.get() ?? 0) > MAX_EXAMINED ? oldestOf.get({ teamId, to, most: MAX_EXAMINED }) : undefined;
  return {
    teamId,
    repoKey: repoKey ?? null,
    deviceIds: deviceIds ? JSON.stringify(deviceIds) : null,
    sources: sources ? JSON.stringify(sources) : null,
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

/** Dollars of billionths; null where nothing has a price, which is kept as -1. */
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
