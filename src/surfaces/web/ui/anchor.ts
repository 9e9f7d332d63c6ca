import { type Content, type Html, html } from "../../../kit/html.ts";

/** A link in running text or a cell. */
export const anchor = (href: string, text: Content): Html => html`<a href="${href}">${text}</a>`;
