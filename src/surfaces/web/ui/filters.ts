import { attributes, type Html, html } from "../../../kit/html.ts";
import { type Option, options } from "./field.ts";

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
}

/** A GET form of filters. Works by its button; the script sends it on every change. */
export function filters({ action, filters, label, clear, hidden, live }: Filters): Html {
  // A live form stays while its filters change, so the link is always there and the script shows it.
  const set = filters.some(({ value }) => value !== "");
  return html`<form class="filters" method="get" role="search"${attributes({ action, "aria-label": label, "data-live": live, "data-auto": live === undefined })}>${Object.entries(hidden ?? {}).map(([name, value]) => value !== undefined && html`<input type="hidden"${attributes({ name, value })}>`)}${filters.map(filter)}
<div class="actions"><button type="submit" class="button" data-apply>Apply</button><a class="button quiet"${attributes({ href: clear ?? action, hidden: !set })} data-clear>Clear filters</a></div></form>`;
}

function filter({ kind, name, label, value, options: list, placeholder }: Filter): Html {
  const id = `filter-${name}`;
  if (kind === "checkbox")
    return html`<div class="filter check"><input type="checkbox" value="on"${attributes({ id, name, checked: value !== "" })}><label for="${id}">${label}</label></div>`;
  const set = value !== "" && "set";
  if (kind === "select")
    return html`<div class="filter ${set}"><label for="${id}">${label}</label><select${attributes({ id, name })}>${options(list ?? [], value)}</select></div>`;
  const slash = kind === "search" ? { "data-search": true, "aria-keyshortcuts": "/" } : {};
  const typing = { type: kind, autocomplete: "off", maxlength: kind === "date" ? undefined : 256 };
  return html`<div class="filter ${kind} ${set}"><label for="${id}">${label}</label><input${attributes({ id, name, value, placeholder, ...typing, ...slash })}></div>`;
}
