import { type Content, type Html, html } from "../../../kit/html.ts";

/** A fact about the thing shown; one without a value is left out. */
export interface Fact {
  readonly label: Content;
  readonly value: Content;
}

/** Facts as a description list. */
export function facts(list: readonly Fact[]): Html {
  const known = list.filter(({ value }) => value !== null && value !== undefined && value !== false && value !== "");
  return html`<dl class="facts">${known.map(({ label, value }) => html`<div><dt>${label}</dt><dd>${value}</dd></div>\n`)}</dl>`;
}
