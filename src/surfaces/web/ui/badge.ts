import { type Content, type Html, html } from "../../../kit/html.ts";

/** What something means at a glance. Never shown by colour alone: each kind has a mark of its own beside its words. */
export type Kind = "good" | "warn" | "bad" | "neutral" | "info";

/** A small status label, e.g. `badge("bad", "Revoked")`. The mark before the text is drawn by the style sheet. */
export function badge(kind: Kind, text: Content): Html {
  return html`<span class="badge ${kind}">${text}</span>`;
}
