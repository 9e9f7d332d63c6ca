import { attributes, type Html, html } from "../../../kit/html.ts";
import { number } from "./units.ts";

/** A page beside this one. */
export interface Tab {
  readonly label: string;
  readonly href: string;
  readonly current: boolean;
  readonly count?: number | undefined;
}

/** Links between the pages of one thing. */
export function tabs(label: string, list: readonly Tab[]): Html {
  return html`<nav class="tabs" aria-label="${label}"><ul>${list.map(
    ({ label, href, current, count }) =>
      html`<li><a${attributes({ href, "aria-current": current && "page" })}>${label}${count !== undefined && html` <span class="count">${number(count)}</span>`}</a></li>`,
  )}</ul></nav>`;
}
