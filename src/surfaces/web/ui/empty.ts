import { type Content, type Html, html } from "../../../kit/html.ts";
import { codeBlock } from "./code.ts";

/** What stands where there is nothing yet. */
export interface Empty {
  /** What is not there, e.g. `No devices yet`. */
  readonly title: Content;
  /** What this place is for and what to do next. */
  readonly says: Content;
  readonly actions?: Content;
  /** A command to copy. */
  readonly code?: string | undefined;
}

/** An empty state: what this is for, what to do next. */
export function empty({ title, says, actions, code }: Empty): Html {
  return html`<div class="empty"><p class="empty-title">${title}</p><p class="says">${says}</p>${code !== undefined && codeBlock(code, { label: "Command" })}${actions && html`<div class="actions">${actions}</div>`}</div>`;
}
