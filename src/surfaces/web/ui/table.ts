import { attributes, type Content, type Html, html } from "../../../kit/html.ts";
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
}

/** What a table shows. */
export interface Table<Row> {
  readonly caption: string;
  /** Whether the caption is seen; it is always read out. */
  readonly captionShown?: boolean | undefined;
  /** `false` for a column that is left out. */
  readonly columns: readonly (Column<Row> | false)[];
  readonly rows: readonly Row[];
  /** Shown instead of a table without rows, e.g. `empty(…)`. */
  readonly empty?: Content;
  /** What becomes of it on a narrow screen: each row a card (the default), or the table scrolls sideways. */
  readonly narrow?: "cards" | "scroll" | undefined;
}

/**
 * A table of data. Roles are spelled out because laying rows out as cards takes the implied ones away. The frame can be
 * focused so that keys scroll it; the script drops that where nothing overflows.
 */
export function table<Row>({ caption, captionShown, columns, rows, empty, narrow }: Table<Row>): Html {
  if (rows.length === 0) return html`<div class="table-empty">${empty}</div>`;
  const shown = columns.filter((column) => column !== false);
  return html`<div class="table-frame" role="region" aria-label="${caption}" tabindex="0" data-scroll><table role="table" class="${narrow === "scroll" ? "scrolls" : "cards"}">
<caption${attributes({ class: captionShown ? undefined : "vh" })}>${caption}</caption>
<thead role="rowgroup"><tr role="row">${shown.map(head)}</tr></thead>
<tbody role="rowgroup">${rows.map((row) => html`<tr role="row">${shown.map((column) => cell(column, row))}</tr>\n`)}</tbody></table></div>`;
}

const classOf = ({ numeric, grow }: Column<never>) =>
  [numeric && "numeric", grow && "grow"].filter(Boolean).join(" ") || undefined;

function head(column: Column<never>): Html {
  const { label, hidden } = column;
  return html`<th role="columnheader" scope="col"${attributes({ class: classOf(column) })}>${hidden ? html`<span class="vh">${label}</span>` : label}</th>`;
}

function cell<Row>(column: Column<Row>, row: Row): Html {
  const { label, numeric, hidden, heading } = column;
  // The label beside the value on a card is drawn from the attribute.
  const shared = attributes({ class: classOf(column), "data-label": hidden ? undefined : label });
  const content = column.cell(row);
  const shown = numeric && typeof content === "number" ? number(content) : content;
  if (heading) return html`<th role="rowheader" scope="row"${shared}>${shown}</th>`;
  return html`<td role="cell"${shared}>${shown}</td>`;
}
