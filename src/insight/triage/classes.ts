import type { Core } from "../../core.ts";
import { cutPage, type Page, pageSize, type Towards } from "../../kit/page.ts";
import {
  type ClassFilter,
  classRows,
  type ListedClassRow,
  type PressingRow,
  SORT_KEYS,
  type SortKey,
} from "./class-rows.ts";
import { STATES, type State } from "./standing.ts";

/** Classes of errors, as they are listed and counted. All are as fresh as the entries are. */

/** Which classes; absent members do not narrow. */
export interface ClassQuery {
  /** One of its entries is of this repository. */
  readonly repoKey?: string | undefined;
  /** Of the file that its newest entry stands in. */
  readonly kind?: string | undefined;
  /** A person's id; `""` for those that are nobody's. */
  readonly owner?: string | undefined;
  /** Only some, by the first 8 digits of their fingerprints. */
  readonly only?: readonly string[] | undefined;
}

export const SORTS = SORT_KEYS;

interface ListQuery extends ClassQuery {
  readonly states: readonly State[];
  readonly sort: SortKey;
  readonly ascending: boolean;
  /** An earlier page's `older` or `newer`; anything else asks for the first page. */
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
}

export type ListedClass = Omit<ListedClassRow, "key" | "class"> & { readonly fingerprint: string };

function filterOf(core: Core, teamId: string, { repoKey, kind, owner, only }: ClassQuery): ClassFilter {
  return {
    ...{ teamId, now: core.clock.now(), repoKey: repoKey ?? null, kind: kind ?? null, owner: owner ?? null },
    only: only ? JSON.stringify(only) : null,
  };
}

/** A page of a team's classes in an order. @param query `limit` 1 to 200, 50 by default */
export function pageOfErrors(core: Core, teamId: string, query: ListQuery): Page<ListedClass> {
  const { sort, ascending, states, cursor } = query;
  const size = pageSize(query.limit);
  const at = readPlace(cursor);
  const sql = classRows(core.store);
  const filter = { ...filterOf(core, teamId, query), states: JSON.stringify(states) };
  const read = (towards: Towards, key: string | number | null, of: string | null) =>
    sql.pages[sort][ascending === (towards === "older") ? "ASC" : "DESC"].all({
      ...filter,
      ...{ key, at: of, count: size + 1 },
    });
  const found = read(at?.towards ?? "older", at?.key ?? null, at?.of ?? null);
  const page =
    cutPage(found, size, at?.towards, (row, towards) => writePlace({ towards, key: row.key, of: row.class })) ??
    pageOfErrors(core, teamId, { ...query, cursor: undefined });
  return { ...page, rows: page.rows.map(listed) };
}

const listed = (row: ListedClassRow | ListedClass): ListedClass => {
  if (!("key" in row)) return row;
  const { key: _, class: fingerprint, ...rest } = row;
  return { fingerprint, ...rest };
};

interface ListPlace {
  readonly towards: Towards;
  readonly key: string | number;
  readonly of: string;
}

const MAX_CURSOR_CHARS = 2_000;

const writePlace = ({ towards, key, of }: ListPlace): string =>
  Buffer.from(JSON.stringify([towards === "older" ? 0 : 1, of, key])).toString("base64url");

function readPlace(text: string | undefined): ListPlace | undefined {
  if (text === undefined || text.length > MAX_CURSOR_CHARS || !/^[\w-]+$/.test(text)) return undefined;
  try {
    const [way, of, key] = JSON.parse(Buffer.from(text, "base64url").toString("utf8")) as unknown[];
    if (typeof of !== "string" || !/^[0-9a-f]{8}$/.test(of) || (way !== 0 && way !== 1)) return undefined;
    if (typeof key !== "string" && !Number.isSafeInteger(key)) return undefined;
    return { towards: way === 0 ? "older" : "newer", of, key: key as string | number };
  } catch {
    return undefined;
  }
}

/** What some classes come to. */
export interface ClassCounts {
  readonly classes: Readonly<Record<State, number>>;
  /** Of those that are open or came again, how many are nobody's. */
  readonly unassigned: number;
  /** Entries of all of them, in whatever state. */
  readonly entries: number;
}

export function countClasses(core: Core, teamId: string, query: ClassQuery = {}): ClassCounts {
  const counted = classRows(core.store).counts.all(filterOf(core, teamId, query));
  const of = (state: State) => counted.find((row) => row.state === state);
  return {
    classes: Object.fromEntries(STATES.map((state) => [state, of(state)?.classes ?? 0])) as Record<State, number>,
    unassigned: (of("open")?.nobodys ?? 0) + (of("again")?.nobodys ?? 0),
    entries: counted.reduce((sum, { entries }) => sum + entries, 0),
  };
}

/** Classes that somebody should look at, and how many there are. */
interface Pressing {
  readonly count: number;
  readonly rows: readonly Omit<PressingRow, "cameAgain" | "count">[];
}

/**
 * The errors that came again since a day, and the others that are open: an entry says so, or somebody did. Of errors files alone.
 * @param since YYYY-MM-DD
 * @param most of each
 */
function pressing(core: Core, teamId: string, since: string, most: number) {
  const found = classRows(core.store).pressing.all({ ...filterOf(core, teamId, { kind: "error" }), since, most });
  const of = (sort: number): Pressing => {
    const rows = found.filter(({ cameAgain }) => cameAgain === sort);
    return { count: rows[0]?.count ?? 0, rows };
  };
  return { cameAgain: of(1), open: of(0) };
}

/** How many classes of each repository are open or came again; those without any are left out. */
const byRepo = (core: Core, teamId: string): Map<string, number> =>
  new Map(
    classRows(core.store)
      .openByRepo.all(filterOf(core, teamId, {}))
      .map(({ repoKey, open }) => [repoKey, open]),
  );

/** What is open, as the pages beside the list of errors tell it. */
export const openErrors = { pressing, byRepo };

/** How many classes began on each day. @param from YYYY-MM-DD */
export const newClassesByDay = (
  core: Core,
  teamId: string,
  from: string,
  { repoKey, kind }: Pick<ClassQuery, "repoKey" | "kind"> = {},
): { readonly date: string; readonly count: number }[] =>
  classRows(core.store).newByDay.all(teamId, repoKey ?? null, kind ?? null, from);
