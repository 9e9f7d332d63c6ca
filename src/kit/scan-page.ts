import { type Key, type Page, pageSize, readCursor, type Towards, writeCursor } from "./page.ts";

/**
 * Bounded scans: a page of the rows that a filter lets through, found by walking over those it does not. A filter that nothing
 * matches must not walk over a million rows, so each page has a budget; one whose budget runs out comes short, even empty, and
 * says where to go on.
 */

/** What one page may still look at, by kind; the walk and the filter count it down. It is spent when one kind is used up. */
export type Budget<Name extends string> = Record<Name, number>;

/** Rows of one part of a walk. */
export interface Chunk<Row> {
  readonly rows: readonly Row[];
  /** Where a later walk goes on. */
  readonly at: Key;
}

export interface ScanQuery<Row, Part extends Chunk<Row>, Name extends string> {
  readonly cursor: string | undefined;
  readonly limit: number | undefined;
  /** How many numbers a key has. */
  readonly parts: number;
  readonly budget: Readonly<Budget<Name>>;
  readonly keyOf: (row: Row) => Key;
  /** Walks over rows beyond a key, nearest first, until nothing follows or the budget is spent. @param size of the page */
  readonly walk: (towards: Towards, start: Key | undefined, budget: Budget<Name>, size: number) => AsyncIterable<Part>;
  readonly matches: (row: Row, budget: Budget<Name>) => boolean;
}

export interface ScannedPage<Row, Part, Name extends string> extends Page<Row> {
  /** What is left of the budget. */
  readonly left: Readonly<Budget<Name>>;
  /** The part that was looked at last, when the budget was spent before the page was full. */
  readonly stoppedAt: Part | undefined;
}

/** Whether nothing is left of any part of a budget. */
export const isSpent = (budget: Readonly<Budget<string>>): boolean => Object.values(budget).some((left) => left <= 0);

/** Reads one page. Going newer and arriving at the top with room left gives the first page, whole. */
export async function scanPage<Row, Part extends Chunk<Row>, Name extends string>(
  query: ScanQuery<Row, Part, Name>,
): Promise<ScannedPage<Row, Part, Name>> {
  const size = pageSize(query.limit);
  const cursor = readCursor(query.cursor, query.parts);
  const towards = cursor?.towards ?? "older";
  const left = { ...query.budget };
  // One more than is shown: it tells that there are more.
  const matching: Row[] = [];
  let last: Part | undefined;
  for await (const chunk of query.walk(towards, cursor?.key, left, size)) {
    last = chunk;
    for (const row of chunk.rows) if (matching.length <= size && query.matches(row, left)) matching.push(row);
    if (matching.length > size) break;
  }
  const more = matching.length > size;
  const stoppedAt = !more && isSpent(left) ? last : undefined;
  if (cursor && towards === "newer" && !more && !stoppedAt) return scanPage({ ...query, cursor: undefined });

  const rows = matching.slice(0, size);
  const lastKey = more ? query.keyOf(rows.at(-1) as Row) : stoppedAt?.at;
  const ahead = link(towards, lastKey);
  const behind = link(towards === "older" ? "newer" : "older", cursor && (rows[0] ? query.keyOf(rows[0]) : cursor.key));
  return { rows: towards === "newer" ? rows.reverse() : rows, ...ahead, ...behind, left, stoppedAt };
}

const link = (towards: Towards, key: Key | undefined) => (key ? { [towards]: writeCursor({ towards, key }) } : {});
