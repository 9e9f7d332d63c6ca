import type { Core } from "../../core.ts";
import { cutPage, type Page } from "../../kit/page.ts";
import { soughtText } from "../../kit/strings.ts";
import { cooperative } from "../../kit/yield.ts";
import { type RequestRow, rows, type Status, type Walk } from "./rows.ts";

export interface RequestFilter {
  /** One status, without requests merged into others; or those alone. All when absent. */
  readonly status?: Status | "merged" | undefined;
  /** Stands somewhere in the text, the context, the note or the id; ASCII letters in any case. */
  readonly text?: string | undefined;
}

/** Where a page begins: with what is older, or newer, than a request. Anything that is no id counts as absent. */
export interface RequestCursor {
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

/** Requests looked at in one go. A search that nothing matches walks everything, and others want their turn meanwhile. */
const BATCH_IDS = 100;
/** Below and above every id, which begin with `req_`. */
const LOWEST = "";
const HIGHEST = "req~";

/** The id of a request. */
export const REQUEST_ID = /^req_[\w-]{1,128}$/;

const cursorOf = (text: string | undefined) => (REQUEST_ID.test(text ?? "") ? text : undefined);

/** One page of requests, newest first. Going newer and arriving at the top gives the first page, whole. */
export async function listRequests(
  core: Core,
  filter: RequestFilter,
  limit: number,
  cursor: RequestCursor = {},
): Promise<Page<RequestRow>> {
  const before = cursorOf(cursor.before);
  const after = before === undefined ? cursorOf(cursor.after) : undefined;
  const came = before !== undefined ? "older" : after !== undefined ? "newer" : undefined;
  const nearest = await look(core, filter, limit + 1, came ?? "older", before ?? after);
  return cutPage(nearest, limit, came, ({ id }) => id) ?? listRequests(core, filter, limit);
}

/** Up to `count` requests that match, nearest first, looked for stretch by stretch. */
async function look(
  core: Core,
  filter: RequestFilter,
  count: number,
  towards: "older" | "newer",
  start: string | undefined,
): Promise<RequestRow[]> {
  const status = filter.status === "merged" ? null : (filter.status ?? null);
  const walk: Walk = (status === null ? rows(core.store).all : rows(core.store).ofStatus)[towards];
  const merged = filter.status === undefined ? null : (Number(filter.status === "merged") as 0 | 1);
  const sought = soughtText(filter.text ?? "");
  const yieldNow = cooperative(core.clock);
  const found: RequestRow[] = [];
  let from: string | undefined = start ?? (towards === "older" ? HIGHEST : LOWEST);
  while (from !== undefined && found.length < count) {
    const edge: string | undefined = walk.edge.get({ from, status, span: BATCH_IDS });
    const upTo = edge ?? (towards === "older" ? LOWEST : HIGHEST);
    found.push(...walk.read.all({ from, edge: upTo, status, merged, ...sought, count: count - found.length }));
    from = edge;
    await yieldNow();
  }
  return found;
}
