import { type Html, html } from "../../../kit/html.ts";

/** The frame of rendered markdown: a readable measure, and styles for its bare elements. */
export function prose(rendered: Html): Html {
  return html`<div class="prose">${rendered}</div>`;
}
