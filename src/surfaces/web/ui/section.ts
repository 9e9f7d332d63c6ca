import { attributes, type Content, type Html, html } from "../../../kit/html.ts";

/** A part of a page under its own heading. */
export interface Section {
  readonly title: Content;
  readonly says?: Content;
  readonly actions?: Content;
  readonly body: Content;
  readonly id?: string | undefined;
  /** Frames the body like a card; for forms and lists of facts. Tables and charts bring their own frame. */
  readonly framed?: boolean | undefined;
}

/** A titled part of a page (`h2`). */
export function section({ title, says, actions, body, id, framed }: Section): Html {
  return html`<section class="section"${attributes({ id })}><div class="section-head"><div><h2>${title}</h2>${says && html`<p class="says">${says}</p>`}</div>
${actions && html`<div class="actions">${actions}</div>`}</div>
${framed ? html`<div class="card">${body}</div>` : body}</section>`;
}

/** Sets parts side by side where there is room (each at least 22 rem wide), below one another where not. */
export function columns(...parts: readonly Content[]): Html {
  return html`<div class="columns">${parts.map((part) => html`<div>${part}</div>`)}</div>`;
}
