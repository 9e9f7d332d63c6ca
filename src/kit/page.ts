/**
 * Keyset paging: a page is asked for by the sort key of the row it begins after, so that a late page costs what the first
 * one does and rows that arrive meanwhile move nothing.
 */

import { parseJson } from "./json.ts";

/** One page of a list, newest first. A cursor is absent when there is nothing on its side. */
export interface Page<Row, At = string> {
  readonly rows: readonly Row[];
  /** Asks for the page of older rows. */
  readonly older?: At;
  /** Asks for the page of newer rows. */
  readonly newer?: At;
}

/** Numbers that order rows, the first counting most. `null` sorts below every number, as SQLite has it. */
export type Key = readonly (number | null)[];

export type Towards = "older" | "newer";

/** Where a page begins: beyond a key, going one way. */
export interface Cursor {
  readonly towards: Towards;
  readonly key: Key;
}

const DEFAULT_PAGE = 50;
export const MAX_PAGE = 200;
const MAX_CURSOR_CHARS = 200;

/** Rows of a page: the requested number, within 1 and `MAX_PAGE`; `DEFAULT_PAGE` for anything that is no whole number. */
export function pageSize(requested: number | undefined): number {
  if (requested === undefined || !Number.isSafeInteger(requested)) return DEFAULT_PAGE;
  return Math.min(Math.max(requested, 1), MAX_PAGE);
}

/** Spells a cursor for a link. */
export function writeCursor({ towards, key }: Cursor): string {
  return Buffer.from(JSON.stringify([towards === "older" ? 0 : 1, ...key])).toString("base64url");
}

/**
 * Reads a cursor that came back.
 * @param parts how many numbers its key has
 * @returns undefined for anything that `writeCursor` did not spell so, which asks for the first page
 */
export function readCursor(text: string | undefined, parts: number): Cursor | undefined {
  if (text === undefined || text === "" || text.length > MAX_CURSOR_CHARS || !/^[\w-]+$/.test(text)) return undefined;
  const value = parseJson(Buffer.from(text, "base64url").toString("utf8"));
  if (!Array.isArray(value) || value.length !== parts + 1) return undefined;
  const [way, ...key] = value as unknown[];
  if ((way !== 0 && way !== 1) || !key.every((part) => part === null || Number.isSafeInteger(part))) return undefined;
  return { towards: way === 0 ? "older" : "newer", key: key as (number | null)[] };
}

export interface PageQuery<Row> {
  readonly cursor: string | undefined;
  readonly limit: number | undefined;
  /** The row's sort key. */
  readonly keyOf: (row: Row) => Key;
  /** How many numbers a key has. */
  readonly parts: number;
  /** Reads up to `count` rows beyond a key, nearest first; without a key, the newest. */
  readonly read: (towards: Towards, key: Key | undefined, count: number) => readonly Row[];
}

/** Reads one page. Going newer and arriving at the top gives the first page, whole. */
export function keysetPage<Row>(query: PageQuery<Row>): Page<Row> {
  const size = pageSize(query.limit);
  const cursor = readCursor(query.cursor, query.parts);
  const found = query.read(cursor?.towards ?? "older", cursor?.key, size + 1);
  return (
    cutPage(found, size, cursor?.towards, (row, towards) => writeCursor({ towards, key: query.keyOf(row) })) ??
    keysetPage({ ...query, cursor: undefined })
  );
}

/**
 * Makes a page of the rows that were found.
 * @param found nearest first, one more than the page's size where there are more
 * @param came the direction of the request; undefined for the first page
 * @param cursorAt makes the cursor for the page beyond a row
 * @returns undefined when going newer arrived at the top: then the first page has to be read, whole
 */
export function cutPage<Row, At = string>(
  found: readonly Row[],
  size: number,
  came: Towards | undefined,
  cursorAt: (row: Row, towards: Towards) => At,
): Page<Row, At> | undefined {
  const more = found.length > size;
  if (came === "newer" && !more) return undefined;
  const rows = found.slice(0, size);
  if (came === "newer") rows.reverse();
  const [first, last] = [rows[0], rows.at(-1)];
  return {
    rows,
    ...(last !== undefined && (more || came === "newer") ? { older: cursorAt(last, "older") } : {}),
    ...(first !== undefined && came !== undefined ? { newer: cursorAt(first, "newer") } : {}),
  };
}
