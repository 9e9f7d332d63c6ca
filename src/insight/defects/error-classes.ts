import type { Core } from "../../core.ts";
import { WIRE_FINGERPRINT } from "../../formats/errors/fingerprint.ts";
import { pageSize } from "../../kit/page.ts";
import { cooperative } from "../../kit/yield.ts";
import { classRange } from "./class-changes.ts";
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
/** Above every day, and above what every fingerprint begins with. */
const LAST_DAY = "~";
const ABOVE_ALL: Buffer = Buffer.alloc(DIGITS / 2 + 1, 0xff);

/**
 * A page of the classes in a team's current brains, those seen first most lately first: that day stays when a class comes again. Days are
 * read from the newest back, with the classes that have entries on them. So of older days only the other entries of these classes are read.
 * As fresh as `entriesProjection`.
 * @param query `cursor` is an earlier page's `older`; `limit` 1 to 200, 50 by default
 */
export async function pageOfClasses(
  core: Core,
  teamId: string,
  query: ClassFilter & { readonly cursor?: string | undefined; readonly limit?: number | undefined },
): Promise<{ readonly rows: ErrorClass[]; readonly older: string | undefined }> {
  const size = pageSize(query.limit);
  const shown: Counted[] = [];
  for await (const one of classesDown(core, teamId, query)) {
    if ((query.recurring && one.occurrences < 2) || (query.open && one.open === 0)) continue;
    if (shown.length === size) {
      const last = shown.at(-1) as Counted;
      return { rows: shown.map((each) => described(core, teamId, each)), older: last.firstSeen + last.fingerprint };
    }
    shown.push(one);
  }
  return { rows: shown.map((each) => described(core, teamId, each)), older: undefined };
}

/** Classes by the day on which they were seen first, and by fingerprint within a day, both from the highest down. */
async function* classesDown(
  core: Core,
  teamId: string,
  { cursor, ...filter }: ClassFilter & { readonly cursor?: string | undefined },
): AsyncGenerator<Counted> {
  const sql = pageRows(core.store);
  const yieldNow = cooperative(core.clock);
  // A class that comes again has entries on many days, of which one is its first.
  const known = new Map<string, Counted | undefined>();
  let below = cursor === undefined ? ABOVE_ALL : Buffer.from(cursor.slice(-DIGITS), "hex");
  let day = sql.dayUpTo.get(teamId, cursor === undefined ? LAST_DAY : cursor.slice(0, -DIGITS));
  while (day) {
    const some: Buffer[] = sql.beginningsOf.all({ teamId, date: day, below, count: CHUNK });
    for (const low of some) {
      const name = low.toString("hex");
      if (!known.has(name)) known.set(name, await classOf(core, teamId, filter, name));
      const one = known.get(name);
      if (one?.firstSeen === day) yield one;
      await yieldNow();
    }
    below = some.at(-1) ?? ABOVE_ALL;
    if (some.length === CHUNK) continue;
    below = ABOVE_ALL;
    day = sql.dayBefore.get(teamId, day);
  }
}

/** @param name the digits that fingerprints of the class begin with */
async function classOf(core: Core, teamId: string, filter: ClassFilter, name: string): Promise<Counted | undefined> {
  const [found] = (await count(core, teamId, filter, ...classRange(name))).values();
  return found;
}

/** One class. @param fingerprint its 8 digits @returns undefined when the team's current brains have no entry of it */
export async function findClass(
  core: Core,
  teamId: string,
  fingerprint: string,
  repoKey?: string,
): Promise<ErrorClass | undefined> {
  if (!WIRE_FINGERPRINT.test(fingerprint)) return undefined;
  const found = await classOf(core, teamId, { repoKey }, fingerprint);
  return found && described(core, teamId, found);
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
