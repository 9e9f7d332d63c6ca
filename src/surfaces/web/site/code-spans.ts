import { type Html, html } from "../../../kit/html.ts";

/** Text of our own in which backticks mark code, as the API's descriptions are written. */
export function withCode(text: string): Html {
  return html`${text.split(/(`[^`]+`)/).map((part) => (/^`.+`$/.test(part) ? html`<code>${part.slice(1, -1)}</code>` : part))}`;
}
