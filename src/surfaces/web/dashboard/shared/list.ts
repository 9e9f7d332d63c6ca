import { attributes, type Content, type Html, html } from "../../../../kit/html.ts";
import type { PageCall } from "../../../../platform/http/page.ts";
import { chips, type Filter, filters, filterText, type Pager, pager, type Table, table } from "../../ui/list.ts";
import { pageHead } from "../../ui/parts.ts";
import { number } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import { link, type Query, setOf } from "./links.ts";
import { short } from "./text.ts";

const MAX_CHIP = 40;

/** A list: its filters, what they leave of it, and the pages around it. */
export interface List<Row> {
  readonly path: `/${string}`;
  /** What the filters are set to, as the address names it; `""` for nothing. */
  readonly params?: Query | undefined;
  /** Parameters that clearing the filters keeps; `""` too. */
  readonly kept?: Query | undefined;
  /** Where on the page the list stands: `#entries`. */
  readonly hash?: `#${string}`;
  /** None where there is nothing to choose. */
  readonly filters?: readonly Filter[] | false | undefined;
  /** What the filters do, for those who cannot see them: `Filter sessions`. */
  readonly label?: string;
  /** All filters but the search stand behind a button; what is set stands above the rows, each with a way to take it back. */
  readonly folded?: boolean;
  /** Above the rows, e.g. how many there are and what they come to. */
  readonly head?: Content;
  /** Id of the element that the script replaces when filters change; without one the whole page is loaded anew. */
  readonly id?: string;
  readonly table?: Table<Row>;
  /** Instead of a table, or below it. */
  readonly body?: Content;
  /** How many are found, which is read out; the table's rows by default. */
  readonly count?: number;
  readonly pages?: Pages | undefined;
}

/** For lists in another order than that of time. */
export const PREVIOUS_NEXT = { newer: "Previous", older: "Next" };

export interface Pages extends Omit<Pager, "newer" | "older" | "first"> {
  /** The query that leads to that page, added to the filters; there is no link when every member is undefined. */
  readonly newer?: Query | undefined;
  readonly older?: Query | undefined;
  /** Whether there is a way back to the beginning. */
  readonly first?: boolean;
}

/** For lists that are read one way. @param after what the address names @param next what the next page goes on after */
export const pagesAfter = (after: string, next: string | undefined): Pages => ({
  labels: PREVIOUS_NEXT,
  first: after !== "",
  older: { after: next },
});

/** For lists of which a page is named by its position. @param from the rows before it @param all how many rows there are @param counted that in words */
export function pagesFrom(from: number, all: number, size: number, counted: string): Pages {
  const [before, next] = [from - size, from + size];
  return {
    labels: PREVIOUS_NEXT,
    first: from > 0,
    newer: { from: before > 0 ? before : undefined },
    older: { from: next < all ? next : undefined },
    intro: all > size && `${number(from + 1)} to ${number(Math.min(next, all))} of ${counted}`,
  };
}

/** A list where it stands among other parts of a page. */
export function list<Row>(call: Pick<PageCall, "href">, shown: List<Row>): Html {
  const { path, kept = {}, hash = "", id, label = "", folded } = shown;
  const set = folded && shown.filters ? chipsOf(call, shown, shown.filters) : [];
  const results = html`${(shown.head || set.length > 0) && html`<div class="list-head">${shown.head}${chips(set)}</div>`}${shown.table && table(shown.table)}${shown.body}${shown.pages && pagesAround(call, shown, shown.pages)}`;
  return html`${
    shown.filters &&
    filters({
      action: call.href(path),
      label,
      filters: shown.filters,
      hidden: kept,
      clear: link(call, path, kept) + hash,
      live: id === undefined ? undefined : `#${id}`,
      folded,
    })
  }
${id === undefined ? results : html`<div${attributes({ id, "data-count": shown.count ?? shown.table?.rows.length })}>${results}</div>`}`;
}

/** The filters that are set, each leading to the list without it. A search is shown in its field. */
export function chipsOf(
  call: Pick<PageCall, "href">,
  { path, params = {}, kept, hash }: Pick<List<never>, "path" | "params" | "kept" | "hash">,
  all: readonly Filter[],
) {
  return all
    .filter(({ kind, value }) => value !== "" && kind !== "search")
    .map((one) => ({
      label: one.label,
      value: short(filterText(one), MAX_CHIP),
      href: link(call, path, { ...kept, ...setOf({ ...params, [one.name]: "" }) }) + (hash ?? ""),
    }));
}

function pagesAround<Row>(call: Pick<PageCall, "href">, shown: List<Row>, pages: Pages): Html {
  const { path, params = {}, kept, hash = "" } = shown;
  const { newer, older, first, ...rest } = pages;
  const at = (cursor: Query) => link(call, path, { ...kept, ...setOf(params), ...cursor }) + hash;
  const to = (cursor: Query = {}) =>
    Object.values(cursor).some((value) => value !== undefined) ? at(cursor) : undefined;
  return pager({ ...rest, newer: to(newer), older: to(older), first: first ? at({}) : undefined });
}

interface ListPage<Row> extends List<Row> {
  readonly title: string;
  readonly intro?: Content;
  readonly actions?: Content;
  /** Between the head and the list. */
  readonly above?: Content;
  readonly below?: Content;
  /** For tables that need the room. */
  readonly wide?: boolean;
}

/** A page that is a list. */
export function listPage<Row>(call: PageCall, shown: ListPage<Row>): Html {
  const { title, intro, actions, above, below, wide } = shown;
  const main = html`${pageHead({ title, intro, actions })}
${above}${list(call, shown)}
${below}`;
  return frame(call, { title, main, ...(wide && { wide }) });
}
