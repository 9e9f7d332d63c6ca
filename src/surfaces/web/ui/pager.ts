import { attributes, type Content, type Html, html } from "../../../kit/html.ts";

/** Where a keyset-paged list continues; the addresses already carry the filters. */
export interface Pager {
  readonly newer?: string | undefined;
  readonly older?: string | undefined;
  /** Back to the beginning of the list. */
  readonly first?: string | undefined;
  /** What is shown, e.g. `50 of about 1,200`. */
  readonly says?: Content;
  /** Other words than `Newer` and `Older`. */
  readonly labels?: { readonly newer: string; readonly older: string } | undefined;
}

/** Links to the pages around this one; nothing when there are none and nothing to say. */
export function pager({ newer, older, first, says, labels }: Pager): Html {
  if (newer === undefined && older === undefined && first === undefined && !says) return html``;
  const words = labels ?? { newer: "Newer", older: "Older" };
  return html`<nav class="pager" aria-label="Pages"><p>${says}</p><div class="actions">
${first !== undefined && html`<a class="button small"${attributes({ href: first })}>First</a>`}
${newer !== undefined && html`<a class="button small" rel="prev"${attributes({ href: newer })}>← ${words.newer}</a>`}
${older !== undefined && html`<a class="button small" rel="next"${attributes({ href: older })}>${words.older} →</a>`}</div></nav>`;
}
