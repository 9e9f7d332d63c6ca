import type { Core } from "../../core.ts";
import { type OutcomeKind, outcomeKind } from "../../formats/outcomes.ts";
import { countMembers, SESSION_MEMBERS } from "../../formats/session.ts";
import { withDeviceLabels } from "../../identity/devices/devices.ts";
import { jsonHolds } from "../../kit/json-holds.ts";
import type { Key, Page, Towards } from "../../kit/page.ts";
import { type Budget, type Chunk, isSpent, scanPage } from "../../kit/scan-page.ts";
import { soughtWhole } from "../../kit/strings.ts";
import { cooperative } from "../../kit/yield.ts";
import { browseRows, type HoldingRow, type SessionListRow } from "./browse-rows.ts";
import { parsedMembers } from "./rules.ts";

/** Which sessions are shown. Absent members do not narrow. Instants are of the start; `from` is included, `to` is not. */
export interface SessionFilter {
  readonly repoKey?: string | undefined;
  readonly deviceId?: string | undefined;
  /** Of any of these devices. */
  readonly deviceIds?: readonly string[] | undefined;
  /** Of any of these, as `sourcesOf` names them. */
  readonly sources?: readonly string[] | undefined;
  readonly outcome?: string | undefined;
  /** One whose outcome means this, whatever the agent's word. */
  readonly outcomeKind?: OutcomeKind | undefined;
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
  readonly branch?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** Stands somewhere in the session's document (its prompts, files, …; not its spans), in any case. */
  readonly text?: string | undefined;
}

interface LabelledSession extends SessionListRow {
  readonly deviceLabel: string | null;
}

/** A session with how much it holds. */
export interface SessionRow extends LabelledSession {
  readonly spans: number;
  readonly labels: number;
  /** Null when the session is too large to be read for a list. */
  readonly prompts: number | null;
  readonly files: number | null;
  readonly commits: number | null;
  /** What it was asked first, or else its title: one line, at most 160 characters. */
  readonly firstPrompt: string | null;
}

/** What one page may look at. */
const MAX_EXAMINED = { sessions: 20_000, bytes: 64_000_000 };
type Spending = keyof typeof MAX_EXAMINED;
const MAX_READ = 500;
const MAX_BYTES_COUNTED = 256 * 1024;

/** A page of a team's sessions, the one that started last first, those without a start at the end. @param limit 1 to 200, 50 by default */
export async function listSessions(
  core: Core,
  teamId: string,
  query: SessionFilter & { readonly cursor?: string | undefined; readonly limit?: number | undefined } = {},
): Promise<Page<SessionRow>> {
  const page = await scanPage({
    cursor: query.cursor,
    limit: query.limit,
    parts: 2,
    budget: MAX_EXAMINED,
    keyOf,
    walk: walkSessions.bind(null, core, teamId, query),
    matches: sessionFilter(core, query),
  });
  return { ...page, rows: await withCounts(core, withDeviceLabels(core, page.rows)) };
}

const keyOf = ({ startedAt, id }: Pick<SessionListRow, "startedAt" | "id">): Key => [startedAt, id];

/** What may be looked at for one neighbour: a page shows two of them beside all else. */
const MAX_BESIDE = { sessions: 2_000, bytes: 4_000_000 };

/**
 * The session that started next before (`older`) or after (`newer`) one, among those that a filter leaves.
 * @returns its number; undefined where there is none, or none among the nearest 2,000
 */
export async function sessionBeside(
  core: Core,
  teamId: string,
  filter: SessionFilter,
  session: Pick<SessionListRow, "startedAt" | "id">,
  towards: Towards,
): Promise<number | undefined> {
  const budget = { ...MAX_BESIDE };
  const matches = sessionFilter(core, filter);
  for await (const { rows } of walkSessions(core, teamId, filter, towards, keyOf(session), budget, 1)) {
    const found = rows.find((row) => matches(row, budget));
    if (found) return found.id;
  }
  return undefined;
}

async function* walkSessions(
  core: Core,
  teamId: string,
  filter: SessionFilter,
  towards: Towards,
  start: Key | undefined,
  budget: Budget<Spending>,
  size: number,
): AsyncGenerator<Chunk<SessionListRow>> {
  const yieldNow = cooperative(core.clock);
  // Without a filter no row is passed over.
  const count = NARROWING.some((name) => filter[name] !== undefined) ? MAX_READ : size + 1;
  let at = start;
  for (;;) {
    const rows = read(core, teamId, filter, towards, at, count);
    if (rows.length === 0) return;
    for (const row of rows) {
      if (isSpent(budget) || isPast(filter, row, towards)) return;
      at = keyOf(row);
      budget.sessions--;
      yield { rows: [row], at };
      await yieldNow();
    }
  }
}

/** Columns that are compared as they are. */
const SAME = ["deviceId", "outcome", "agent", "model", "branch"] as const;

/** What passes over rows that the walk meets: it sees to repository and time itself. */
const NARROWING = [...SAME, "deviceIds", "sources", "outcomeKind", "text"] as const;

/** Sessions beyond a key, nearest first. Those without a start lie below all that have one. */
function read(
  core: Core,
  teamId: string,
  filter: SessionFilter,
  towards: Towards,
  key: Key | undefined,
  count: number,
): SessionListRow[] {
  const { repoKey, from, to } = filter;
  const { ofTeam, ofRepo } = browseRows(core.store);
  const walk = repoKey === undefined ? ofTeam : ofRepo;
  const scope = repoKey === undefined ? [teamId] : [teamId, repoKey];
  const isDated = from !== undefined || to !== undefined;
  const [startedAt, id] = (key ?? []) as [number | null | undefined, number | undefined];
  if (towards === "newer") {
    const undated = startedAt == null && !isDated ? walk.undatedUp.all(...scope, id ?? 0, count) : [];
    if (undated.length === count) return undated;
    const above = startedAt == null ? [Number.MIN_SAFE_INTEGER, 0] : [startedAt, id as number];
    return [...undated, ...walk.up.all(...scope, ...(above as [number, number]), count - undated.length)];
  }
  const isBelowStarts = startedAt === null;
  const dated = isBelowStarts
    ? []
    : walk.down.all(...scope, startedAt ?? to ?? Number.MAX_SAFE_INTEGER, id ?? 0, count);
  if (dated.length === count || isDated) return dated;
  const belowId = isBelowStarts ? (id as number) : Number.MAX_SAFE_INTEGER;
  return [...dated, ...walk.undatedDown.all(...scope, belowId, count - dated.length)];
}

function isPast({ from, to }: SessionFilter, { startedAt }: SessionListRow, towards: Towards): boolean {
  if (startedAt === null) return false;
  return towards === "older" ? from !== undefined && startedAt < from : to !== undefined && startedAt >= to;
}

function sessionFilter(core: Core, filter: SessionFilter) {
  const devices = filter.deviceIds && new Set(filter.deviceIds);
  const sources = filter.sources && new Set(filter.sources);
  const looksFor = filter.text ? textFinder(core, filter.text) : undefined;
  return (row: SessionListRow, budget: Budget<Spending>): boolean => {
    for (const name of SAME) if (filter[name] !== undefined && row[name] !== filter[name]) return false;
    if (filter.outcomeKind !== undefined && outcomeKind(row.outcome) !== filter.outcomeKind) return false;
    if (devices && !devices.has(row.deviceId)) return false;
    if (sources && !sources.has(row.userEmail ?? row.deviceId)) return false;
    // Towards newer rows, the lower bound is not where the walk begins.
    if (!isWithin(filter, row)) return false;
    if (!looksFor) return true;
    const { found, chars } = looksFor([row.id]);
    budget.bytes -= chars;
    return found.has(row.id);
  };
}

/** Which of some sessions hold a text, and how much was read for it. */
export interface Looked {
  readonly found: ReadonlySet<number>;
  readonly chars: number;
}

/** Reading a character of a document in JavaScript costs as much as so many that SQLite looks through. */
const READ_COSTS = 10;

/** Makes a function that tells which of some sessions' documents (not their spans) hold a text, in any case. */
export function textFinder(core: Core, text: string): (ids: readonly number[]) => Looked {
  const sql = browseRows(core.store);
  const plain = text.toLowerCase();
  // As the text stands inside a JSON string: quotes and line breaks are escaped there.
  const spelled = JSON.stringify(plain).slice(1, -1);
  // SQLite folds the letters of ASCII alone, and is several times as fast as reading each document here; it knows no character by its number,
  // as which programs spell all others, and some of these.
  if (/^\p{ASCII}+$/u.test(plain) && !/[\0<>&]/.test(plain)) {
    const [a, b] = [soughtWhole(plain), spelled === plain ? undefined : soughtWhole(spelled)];
    const either = { a: a.text, aBegins: a.begins, b: b?.text ?? null, bBegins: b?.begins ?? null };
    return (ids) => {
      const { found, bytes } = sql.holding.get({ ...either, ids: JSON.stringify(ids) }) as HoldingRow;
      return { found: new Set(JSON.parse(found) as number[]), chars: bytes ?? 0 };
    };
  }
  const holds = jsonHolds(text);
  return (ids) => {
    const found = new Set<number>();
    let chars = 0;
    for (const id of ids) {
      const document = sql.document.get(id) ?? "";
      if (holds(document)) found.add(id);
      chars += READ_COSTS * document.length;
    }
    return { found, chars };
  };
}

const isWithin = ({ from, to }: SessionFilter, { startedAt }: SessionListRow): boolean =>
  (from === undefined || (startedAt !== null && startedAt >= from)) &&
  (to === undefined || (startedAt !== null && startedAt < to));

/** Sessions with how much they hold; others get their turn between two, since their documents are parsed for it. */
async function withCounts(core: Core, rows: readonly LabelledSession[]): Promise<SessionRow[]> {
  const yieldNow = cooperative(core.clock);
  const counted: SessionRow[] = [];
  for (const row of rows) {
    counted.push(withCount(core, row));
    await yieldNow();
  }
  return counted;
}

function withCount(core: Core, row: LabelledSession): SessionRow {
  const sql = browseRows(core.store);
  const isSmall = (sql.documentBytes.get(row.id) as number) <= MAX_BYTES_COUNTED;
  return {
    ...row,
    spans: sql.spanCount.get(row.id) as number,
    labels: sql.labelCount.get(row.deviceId, row.externalId) as number,
    ...(isSmall
      ? countMembers(parsedMembers(sql.document.get(row.id) as string, SESSION_MEMBERS))
      : { prompts: null, files: null, commits: null, firstPrompt: null }),
  };
}
