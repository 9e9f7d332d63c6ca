import { attributes, type Content, type Html, html } from "../../../kit/html.ts";
import { number } from "./units.ts";

/** A column of a table. */
export interface Column {
  readonly label: string;
  /** Right-aligned; a cell that is a bare number gets grouped thousands. */
  readonly numeric?: boolean | undefined;
  /** The label is for screen readers only, e.g. for a column of buttons. */
  readonly hidden?: boolean | undefined;
  /** Its cells name their row (`th scope="row"`). */
  readonly heading?: boolean | undefined;
  /** Long text may take the room that is left. */
  readonly grow?: boolean | undefined;
}

/** What a table shows. */
export interface Table {
  readonly caption: string;
  /** Whether the caption is seen; it is always read out. */
  readonly captionShown?: boolean | undefined;
  readonly columns: readonly Column[];
  /** Cells in the order of the columns. */
  readonly rows: readonly (readonly Content[])[];
  /** Shown instead of a table without rows, e.g. `empty(…)`. */
  readonly empty: Content;
  /** What becomes of it on a narrow screen: each row a card (the default), or the table scrolls sideways. */
  readonly narrow?: "cards" | "scroll" | undefined;
}

/**
 * A table of data. Roles are spelled out because laying rows out as cards takes the implied ones away. The frame can be
 * focused so that keys scroll it; the script drops that where nothing overflows.
 */
export function table({ caption, captionShown, columns, rows, empty, narrow }: Table): Html {
  if (rows.length === 0) return html`<div class="table-empty">${empty}</div>`;
  return html`<div class="table-frame" role="region" aria-label="${caption}" tabindex="0" data-scroll><table role="table" class="${narrow === "scroll" ? "scrolls" : "cards"}">
<caption${attributes({ class: captionShown ? undefined : "vh" })}>${caption}</caption>
<thead role="rowgroup"><tr role="row">${columns.map(head)}</tr></thead>
<tbody role="rowgroup">${rows.map((cells) => html`<tr role="row">${columns.map((column, i) => cell(column, cells[i]))}</tr>\n`)}</tbody></table></div>`;
}

function head({ label, numeric, hidden, grow }: Column): Html {
  const names = [numeric && "numeric", grow && "grow"].filter(Boolean).join(" ");
  return html`<th role="columnheader" scope="col"${attributes({ class: names || undefined })}>${hidden ? html`<span class="vh">${label}</span>` : label}</th>`;
}

function cell({ label, numeric, hidden, heading, grow }: Column, content: Content): Html {
  const names = [numeric && "numeric", grow && "grow"].filter(Boolean).join(" ");
  // The label beside the value on a card is drawn from the attribute.
  const shared = attributes({ class: names || undefined, "data-label": hidden ? undefined : label });
  const shown = numeric && typeof content === "number" ? number(content) : content;
  if (heading) return html`<th role="rowheader" scope="row"${shared}>${shown}</th>`;
  return html`<td role="cell"${shared}>${shown}</td>`;
}
