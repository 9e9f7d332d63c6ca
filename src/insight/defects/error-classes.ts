import type { Core } from "../../core.ts";
import { pageSize, readCursor, writeCursor } from "../../kit/page.ts";
import { type PrefixRow, pageRows } from "./page-rows.ts";

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

const PREFIX_BYTES = 4;

/**
 * A page of the classes in a team's current brains, those seen first most lately first: that day stays when a class comes again.
 * As fresh as `entriesProjection`.
 * @param limit 1 to 200, 50 by default
 */
export function pageOfClasses(
  core: Core,
  teamId: string,
  query: ClassFilter & { readonly cursor?: string | undefined; readonly limit?: number | undefined } = {},
): { readonly rows: ErrorClass[]; readonly older: string | undefined } {
  const size = pageSize(query.limit);
  const [day, number] = readCursor(query.cursor, 2)?.key ?? [];
  const found = read(core, teamId, query, {
    firstSeen: typeof day === "number" ? dayText(day) : null,
    beyond: typeof number === "number" ? prefixOf(number) : null,
    count: size + 1,
  });
  const rows = found.slice(0, size);
  const last = rows.at(-1);
  const key = last && [Number(last.firstSeen.replaceAll("-", "")), last.prefix.readUInt32BE()];
  return {
    rows: rows.map((row) => described(core, teamId, row, query)),
    older: key && found.length > size ? writeCursor({ towards: "older", key }) : undefined,
  };
}

/** One class. @param fingerprint its 8 digits @returns undefined when the team's current brains have no entry of it */
export function findClass(core: Core, teamId: string, fingerprint: string, repoKey?: string): ErrorClass | undefined {
  if (!/^[0-9a-f]{8}$/.test(fingerprint)) return undefined;
  const only = Buffer.from(fingerprint, "hex");
  const [row] = read(core, teamId, { repoKey }, { only, firstSeen: null, beyond: null, count: 1 });
  return row && described(core, teamId, row, { repoKey });
}

function read(
  core: Core,
  teamId: string,
  {
    repoKey = null,
    kind = null,
    recurring = false,
    open = false,
  }: { [Name in keyof ClassFilter]: ClassFilter[Name] | null },
  range: { only?: Buffer; firstSeen: string | null; beyond: Buffer | null; count: number },
): PrefixRow[] {
  const narrowed = { teamId, repoKey, kind, leastEntries: recurring ? 2 : 1, leastOpen: open ? 1 : 0 };
  const { only, ...rest } = range;
  if (only === undefined) return pageRows(core.store).classes.all({ ...narrowed, ...rest });
  const high = Buffer.concat([only, Buffer.alloc(32, 0xff)]);
  return pageRows(core.store).classesWithin.all({ ...narrowed, ...rest, low: only, high });
}

function described(
  core: Core,
  teamId: string,
  { prefix, ...row }: PrefixRow,
  { repoKey, kind }: ClassFilter,
): ErrorClass {
  const high = Buffer.concat([prefix, Buffer.alloc(32, 0xff)]);
  const newest = pageRows(core.store).newestOfClass.get({
    ...{ teamId, low: prefix, high, repoKey: repoKey ?? null, kind: kind ?? null },
  });
  return { fingerprint: prefix.toString("hex"), ...row, title: newest?.title ?? "", rule: newest?.rule ?? null };
}

function prefixOf(number: number): Buffer {
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(number >>> 0);
  return prefix;
}

function dayText(day: number): string {
  const digits = String(day).padStart(8, "0");
  return `${digits.slice(0, -4)}-${digits.slice(-4, -2)}-${digits.slice(-2)}`;
}
