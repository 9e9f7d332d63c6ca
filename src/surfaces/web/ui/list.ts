import { attributes, type Content, type Html, html } from "../../../kit/html.ts";
import { type Option, options } from "./field.ts";
import { number } from "./units.ts";

/** A column of a table, and what stands in it of a row. */
export interface Column<Row> {
  readonly label: string;
  /** A bare number gets grouped thousands where the column is numeric. */
  readonly cell: (row: Row) => Content;
  /** Right-aligned. */
  readonly numeric?: boolean | undefined;
  /** The label is for screen readers only, e.g. for a column of buttons. */
  readonly hidden?: boolean | undefined;
  /** Its cells name their row (`th scope="row"`). */
  readonly heading?: boolean | undefined;
  /** Long text may take the room that is left. */
  readonly grow?: boolean | undefined;
  /** Left out where there is little room. */
  readonly minor?: boolean | undefined;
  /** Its label stays beside the value where a dense row becomes two lines: for figures that say nothing alone. */
  readonly named?: boolean | undefined;
  /** What a click on the label does, where rows can be put in its order. */
  readonly sort?: Sort | undefined;
}

/** The order of a list by one of its columns. */
export interface Sort {
  /** The list in this column's order, or in the opposite one where it is in its order already. */
  readonly href: string;
  /** How the rows shown are ordered by it; nothing where they are not. */
  readonly direction?: "ascending" | "descending" | undefined;
}

/** What a table shows. */
export interface Table<Row> {
  /** Read out, not seen. */
  readonly caption: string;
  /** `false` for a column that is left out. */
  readonly columns: readonly (Column<Row> | false)[];
  readonly rows: readonly Row[];
  /** Shown instead of a table without rows, e.g. `empty(…)`. */
  readonly empty?: Content;
  /**
   * What becomes of it on a narrow screen: each row a card (the default), a card without labels for values that say
   * themselves what they are, or the table scrolls sideways.
   */
  readonly narrow?: "cards" | "compact" | "scroll" | undefined;
  /** Rows of one line (40 px), for lists that are looked through; what is too long for its cell is cut there. */
  readonly dense?: boolean | undefined;
  /** A last row, e.g. of sums: its cells in the order of the columns shown. */
  readonly foot?: readonly Content[] | undefined;
}

/**
 * A table of data. Roles are spelled out because laying rows out as cards takes the implied ones away. The frame can be
 * focused so that keys scroll it; the script drops that where nothing overflows.
 */
export function table<Row>({ caption, columns, rows, empty, narrow, dense, foot: sums }: Table<Row>): Html {
  if (rows.length === 0) return html`<div class="table-empty">${empty}</div>`;
  const shown = columns.filter((column) => column !== false);
  return html`<div class="table-frame" role="region" aria-label="${caption}" tabindex="0" data-scroll><table role="table" class="${narrow === "scroll" ? "scrolls" : "cards"}${narrow === "compact" && " compact"}${dense && " dense"}">
<caption class="vh">${caption}</caption>
<thead role="rowgroup"><tr role="row">${shown.map(head)}</tr></thead>
<tbody role="rowgroup">${rows.map((row) => html`<tr role="row">${shown.map((column) => cell(column, row))}</tr>\n`)}</tbody>${sums && foot(shown, sums)}</table></div>`;
}

/** The last row. Its first cell says what it sums. */
function foot(columns: readonly Column<never>[], [name, ...sums]: readonly Content[]): Html {
  const cells = sums.map((sum, i) => {
    const { label, ...column } = columns[i + 1] as Column<never>;
    return html`<td role="cell"${attributes({ class: classOf({ label, ...column }), "data-label": label })}>${sum}</td>`;
  });
  return html`<tfoot role="rowgroup"><tr role="row"><th role="rowheader" scope="row">${name}</th>${cells}</tr></tfoot>`;
}

const classOf = ({ numeric, grow, named, minor }: Column<never>) =>
  [numeric && "numeric", grow && "grow", named && "named", minor && "minor"].filter(Boolean).join(" ") || undefined;

function head(column: Column<never>): Html {
  const { label, hidden, sort } = column;
  const name = hidden ? html`<span class="vh">${label}</span>` : label;
  return html`<th role="columnheader" scope="col"${attributes({ class: classOf(column), "aria-sort": sort?.direction })}>${sort ? html`<a class="sort" rel="nofollow"${attributes({ href: sort.href })}>${name}</a>` : name}</th>`;
}

function cell<Row>(column: Column<Row>, row: Row): Html {
  const { label, numeric, hidden, heading } = column;
  // The label beside the value on a card is drawn from the attribute.
  const shared = attributes({ class: classOf(column), "data-label": hidden ? undefined : label });
  const content = column.cell(row);
  const shown = numeric && typeof content === "number" ? number(content) : content;
  // Text that is cut for room loses its end, on whichever side that is.
  if (heading) return html`<th role="rowheader" scope="row" dir="auto"${shared}>${shown}</th>`;
  return html`<td role="cell"${shared}>${shown}</td>`;
}

/** One filter of a list. A select's first option is the one for "all", with the value `""`. */
export interface Filter {
  readonly kind: "search" | "text" | "select" | "date" | "checkbox";
  readonly name: string;
  readonly label: string;
  /** What is set now; `""` for nothing, `"on"` for a ticked box. */
  readonly value: string;
  readonly options?: readonly Option[] | undefined;
  readonly placeholder?: string | undefined;
}

/** The filters of a list. */
export interface Filters {
  readonly action: string;
  readonly filters: readonly Filter[];
  /** What the form is called for those who cannot see it, e.g. `Filter sessions`. */
  readonly label: string;
  /** Where "Clear filters" leads; `action` by default. */
  readonly clear?: string | undefined;
  /** Parameters to keep as they are. */
  readonly hidden?: Readonly<Record<string, string | number | undefined>> | undefined;
  /**
   * A selector such as `#results`: the script then answers every change by fetching this form's page and swapping that
   * element, without a reload. The element should stand on every rendition of the page, empty results included. It may
   * carry `data-count` with the number of results, which is read out.
   */
  readonly live?: string | undefined;
  /** All but the search stand behind a button: for lists of which there are many. */
  readonly folded?: boolean | undefined;
}

/**
 * A GET form of filters. Works by its button; the script sends it on every change. Nothing of it is completed: to a page that somebody
 * comes back to, browsers would bring what was chosen to leave it.
 */
export function filters({ action, filters, label, clear, hidden, live, folded }: Filters): Html {
  // A live form stays while its filters change, so the link is always there and the script shows it.
  const set = filters.some(({ value }) => value !== "");
  const isBehind = ({ kind }: Filter) => folded === true && kind !== "search";
  const actions = html`<div class="actions"><button type="submit" class="button" data-apply>Apply</button><a class="button quiet"${attributes({ href: clear ?? action, hidden: !set })} data-clear>Clear filters</a></div>`;
  return html`<form class="filters" method="get" role="search" autocomplete="off"${attributes({ action, "aria-label": label, "data-live": live, "data-auto": live === undefined })}>${Object.entries(hidden ?? {}).map(([name, value]) => value !== undefined && html`<input type="hidden"${attributes({ name, value })}>`)}${filters.filter((one) => !isBehind(one)).map(filter)}${
    folded &&
    html`<details class="folded" data-menu><summary class="button">Filter</summary><div class="folded-panel"><div class="folded-fields">${filters.filter(isBehind).map(filter)}</div>${actions}</div></details>`
  }
${!folded && actions}</form>`;
}

/** One thing that a list is narrowed by, and where it leads to take it back. */
export interface Chip {
  readonly label: string;
  readonly value: string;
  readonly href: string;
}

/** What a list is narrowed by; nothing where it is not. */
export function chips(list: readonly Chip[]): Html {
  if (list.length === 0) return html``;
  return html`<ul class="chips" aria-label="Filters set">${list.map(({ label, value, href }) => html`<li><a class="chip"${attributes({ href })}><span class="chip-label">${label}</span> ${value}<span class="chip-x"><span class="vh">Remove</span></span></a></li>`)}</ul>`;
}

/** How a filter's value is called. */
export function filterText({ kind, value, options: list }: Filter): string {
  if (kind === "checkbox") return "yes";
  return list?.find((option) => option.value === value)?.label ?? value;
}

function filter({ kind, name, label, value, options: list, placeholder }: Filter): Html {
  const id = `filter-${name}`;
  if (kind === "checkbox")
    return html`<div class="filter check"><input type="checkbox" value="on"${attributes({ id, name, checked: value !== "" })}><label for="${id}">${label}</label></div>`;
  const set = value !== "" && "set";
  if (kind === "select")
    return html`<div class="filter ${set}"><label for="${id}">${label}</label><select${attributes({ id, name })}>${options(list ?? [], value)}</select></div>`;
  const slash = kind === "search" ? { "data-search": true, "aria-keyshortcuts": "/" } : {};
  const typing = { type: kind, maxlength: kind === "date" ? undefined : 256 };
  return html`<div class="filter ${kind} ${set}"><label for="${id}">${label}</label><input${attributes({ id, name, value, placeholder, ...typing, ...slash })}></div>`;
}

/** Where a keyset-paged list continues; the addresses already carry the filters. */
export interface Pager {
  readonly newer?: string | undefined;
  readonly older?: string | undefined;
  /** Back to the beginning of the list. */
  readonly first?: string | undefined;
  /** What is shown, e.g. `50 of about 1,200`. */
  readonly intro?: Content;
  /** Other words than `Newer` and `Older`. */
  readonly labels?: { readonly newer: string; readonly older: string } | undefined;
}

/** Links to the pages around this one; nothing when there are none and nothing to say. */
export function pager({ newer, older, first, intro, labels }: Pager): Html {
  if (newer === undefined && older === undefined && first === undefined && !intro) return html``;
  const words = labels ?? { newer: "Newer", older: "Older" };
  return html`<nav class="pager" aria-label="Pages"><p>${intro}</p><div class="actions">
${first !== undefined && html`<a class="button small"${attributes({ href: first })}>First</a>`}
${newer !== undefined && html`<a class="button small" rel="prev"${attributes({ href: newer })}>← ${words.newer}</a>`}
${older !== undefined && html`<a class="button small" rel="next"${attributes({ href: older })}>${words.older} →</a>`}</div></nav>`;
}
