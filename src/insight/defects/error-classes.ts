import type { Core } from "../../core.ts";
import { pageSize } from "../../kit/page.ts";
import { cooperative } from "../../kit/yield.ts";
import { type CountedRow, pageRows } from "./page-rows.ts";

/** Entries that have the first 8 hexadecimal digits of their fingerprints in common, be there one or many. */
export interface ErrorClass {
  /** The 8 digits. */
  readonly fingerprint: string;
  readonly occurrences: number;
  /** Of them, those that are open. */
  readonly open: number;
  /** Days, YYYY-MM-DD. */
  readonly firstSeen: string;
  readonly lastSeen: string;
  /** Of its newest entry. */
  readonly title: string;
  readonly rule: string | null;
}

export interface ClassFilter {
  readonly repoKey?: string | undefined;
  readonly kind?: string | undefined;
  /** Only those with more than one entry; only those with an entry that is open. */
  readonly recurring?: boolean | undefined;
  readonly open?: boolean | undefined;
}

interface Counted {
  readonly fingerprint: string;
  occurrences: number;
  open: number;
  firstSeen: string;
  newest: CountedRow;
}

const CHUNK = 300;
const DIGITS = 8;
const LOWEST = Buffer.alloc(0);
const HIGHEST = Buffer.alloc(36, 0xff);

/**
 * A page of the classes in a team's current brains, those seen first most lately first: that day stays when a class comes again.
 * All entries are counted for it, in slices that let other requests in between. As fresh as `entriesProjection`.
 * @param query `cursor` is an earlier page's `older`; `limit` 1 to 200, 50 by default
 */
export async function pageOfClasses(
  core: Core,
  teamId: string,
  query: ClassFilter & { readonly cursor?: string | undefined; readonly limit?: number | undefined } = {},
): Promise<{ readonly rows: ErrorClass[]; readonly older: string | undefined }> {
  const size = pageSize(query.limit);
  const { cursor } = query;
  const classes = await count(core, teamId, query, LOWEST, HIGHEST);
  // Plain texts are sorted fast: there may be tens of thousands.
  const places: string[] = [];
  for (const one of classes.values())
    if ((!query.recurring || one.occurrences > 1) && (!query.open || one.open > 0)) {
      const place = one.firstSeen + one.fingerprint;
      if (cursor === undefined || place < cursor) places.push(place);
    }
  const shown = places.sort().slice(-size).reverse();
  return {
    rows: shown.map((place) => described(core, teamId, classes.get(place.slice(-DIGITS)) as Counted)),
    older: places.length > size ? shown.at(-1) : undefined,
  };
}

/** One class. @param fingerprint its 8 digits @returns undefined when the team's current brains have no entry of it */
export async function findClass(
  core: Core,
  teamId: string,
  fingerprint: string,
  repoKey?: string,
): Promise<ErrorClass | undefined> {
  if (!/^[0-9a-f]{8}$/.test(fingerprint)) return undefined;
  const low = Buffer.from(fingerprint, "hex");
  const [row] = (await count(core, teamId, { repoKey }, low, Buffer.concat([low, HIGHEST]))).values();
  return row && described(core, teamId, row);
}

/** Counts the entries whose fingerprints lie between two, by fingerprint. */
async function count(
  core: Core,
  teamId: string,
  filter: ClassFilter,
  low: Buffer,
  high: Buffer,
): Promise<Map<string, Counted>> {
  const yieldNow = cooperative(core.clock);
  const classes = new Map<string, Counted>();
  let at = { fingerprint: low, id: 0 };
  for (;;) {
    const rows = pageRows(core.store).byFingerprint.all({ teamId, ...at, high, count: CHUNK });
    for (const row of rows)
      if (
        (filter.repoKey === undefined || row.repoKey === filter.repoKey) &&
        (filter.kind === undefined || row.kind === filter.kind)
      )
        add(classes, row);
    const last = rows.at(-1);
    if (last === undefined || rows.length < CHUNK) return classes;
    at = { fingerprint: last.fingerprint, id: last.id };
    await yieldNow();
  }
}

function add(classes: Map<string, Counted>, row: CountedRow): void {
  const fingerprint = row.fingerprint.toString("hex").slice(0, DIGITS);
  const known = classes.get(fingerprint);
  if (!known) {
    classes.set(fingerprint, { fingerprint, occurrences: 1, open: row.open, firstSeen: row.date, newest: row });
    return;
  }
  known.occurrences++;
  known.open += row.open;
  if (row.date < known.firstSeen) known.firstSeen = row.date;
  if (isNewer(row, known.newest)) known.newest = row;
}

/** Entries of one day are in the order of their files. */
function isNewer(row: CountedRow, than: CountedRow): boolean {
  if (row.date !== than.date) return row.date > than.date;
  if (row.repoKey !== than.repoKey) return row.repoKey < than.repoKey;
  return row.path === than.path ? row.line < than.line : row.path < than.path;
}

function described(core: Core, teamId: string, { newest, ...counted }: Counted): ErrorClass {
  const entry = pageRows(core.store).byId.get(newest.id, teamId);
  return { ...counted, lastSeen: newest.date, title: entry?.title ?? "", rule: entry?.rule ?? null };
}
