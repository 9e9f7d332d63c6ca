import type { Core } from "../../core.ts";
import type { DefectKind } from "../../formats/brain-kinds.ts";
import { WIRE_FINGERPRINT } from "../../formats/errors/fingerprint.ts";
import { inHashSlices, sliceOf } from "../../kit/hash-slices.ts";
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
  readonly kind?: DefectKind | undefined;
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

/** What is read of the classes that a query leaves, slice by slice. */
function readSlices<Row>(
  core: Core,
  teamId: string,
  { repoKey, kind, owner, only }: ClassQuery,
  read: (filter: ClassFilter) => readonly Row[],
): Promise<Row[]> {
  const narrowed = { repoKey: repoKey ?? null, kind: kind ?? null, owner: owner ?? null };
  const filter = { teamId, now: core.clock.now(), ...narrowed };
  const bySlice = only && Map.groupBy(only, sliceOf);
  return inHashSlices(core.clock, ({ low, high }) => {
    if (!bySlice) return read({ ...filter, low, high, only: null });
    const some = bySlice.get(low);
    return some ? read({ ...filter, low, high, only: JSON.stringify(some) }) : [];
  });
}

/** A page of a team's classes in an order. @param query `limit` 1 to 200, 50 by default */
export async function pageOfErrors(core: Core, teamId: string, query: ListQuery): Promise<Page<ListedClass>> {
  const { sort, ascending, states, cursor } = query;
  const size = pageSize(query.limit);
  const at = readPlace(cursor);
  const sql = classRows(core.store);
  const way = ascending === ((at?.towards ?? "older") === "older") ? "ASC" : "DESC";
  const count = size + 1;
  const range = { states: JSON.stringify(states), key: at?.key ?? null, at: at?.of ?? null, count };
  const classes = await readSlices(core, teamId, query, (filter) => sql.pages[sort][way].all({ ...filter, ...range }));
  const now = core.clock.now();
  const found = sql.firstOf[sort][way].all({ teamId, now, classes: JSON.stringify(classes), count });
  const page =
    cutPage(found, size, at?.towards, (row, towards) => writePlace({ towards, key: row.key, of: row.class })) ??
    (await pageOfErrors(core, teamId, { ...query, cursor: undefined }));
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
    if (typeof of !== "string" || !WIRE_FINGERPRINT.test(of) || (way !== 0 && way !== 1)) return undefined;
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
}

/** How many classes of errors are in which state. */
export async function countClasses(core: Core, teamId: string, query: ClassQuery = {}): Promise<ClassCounts> {
  const counted = await readSlices(core, teamId, query, (filter) => classRows(core.store).counts.all(filter));
  const sumOf = (name: "classes" | "nobodys", states: readonly State[]) =>
    counted.reduce((sum, row) => sum + (states.includes(row.state) ? row[name] : 0), 0);
  return {
    classes: Object.fromEntries(STATES.map((state) => [state, sumOf("classes", [state])])) as Record<State, number>,
    unassigned: sumOf("nobodys", ["open", "again"]),
  };
}

/** Classes that somebody should look at, and how many there are. */
interface Pressing {
  readonly count: number;
  readonly rows: readonly Omit<PressingRow, "cameAgain" | "count" | "rank">[];
}

const newestFirst = (a: PressingRow, b: PressingRow): number =>
  a.lastSeen < b.lastSeen || (a.lastSeen === b.lastSeen && a.fingerprint < b.fingerprint) ? 1 : -1;

/**
 * The errors that came again since a day, and the others that are open or came again before. Of errors files alone.
 * @param since YYYY-MM-DD
 * @param most of each
 */
async function pressing(core: Core, teamId: string, since: string, most: number) {
  const found = await readSlices(core, teamId, { kind: "error" }, (filter) =>
    classRows(core.store).pressing.all({ ...filter, since, most }),
  );
  const of = (sort: number): Pressing => {
    const rows = found.filter(({ cameAgain }) => cameAgain === sort);
    // Each slice tells how many it has with the newest of them.
    const count = rows.reduce((sum, { rank, count }) => sum + (rank === 1 ? count : 0), 0);
    return { count, rows: rows.sort(newestFirst).slice(0, most) };
  };
  return { cameAgain: of(1), open: of(0) };
}

/** How many classes of each repository are open or came again; those without any are left out. */
async function byRepo(core: Core, teamId: string): Promise<Map<string, number>> {
  const found = await readSlices(core, teamId, {}, (filter) => classRows(core.store).openByRepo.all(filter));
  return summed(found.map(({ repoKey, open }) => [repoKey, open]));
}

function summed(list: readonly (readonly [name: string, count: number])[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const [name, count] of list) sums.set(name, (sums.get(name) ?? 0) + count);
  return sums;
}

/** What is open, as the pages beside the list of errors tell it. */
export const openErrors = { pressing, byRepo };

/** How many classes began on each day. @param from YYYY-MM-DD */
export async function newClassesByDay(
  core: Core,
  teamId: string,
  from: string,
  query: Pick<ClassQuery, "repoKey" | "kind"> = {},
): Promise<Map<string, number>> {
  const found = await readSlices(core, teamId, query, (filter) =>
    classRows(core.store).newByDay.all({ ...filter, from }),
  );
  return summed(found.map(({ date, count }) => [date, count]));
}
