import { type Content, type Html, html } from "../../../kit/html.ts";
import type { Kind } from "./badge.ts";
import { time } from "./time.ts";

/** Something that happened. */
export interface TimelineEvent {
  /** Milliseconds since the epoch; null when nobody said. */
  readonly at: number | null;
  readonly kind: Kind;
  readonly title: Content;
  readonly body?: Content;
}

/** Dated events, in the order given. */
export function timeline(events: readonly TimelineEvent[], now: number): Html {
  return html`<ol class="timeline">${events.map(
    ({ at, kind, title, body }) =>
      html`<li class="${kind}"><p class="timeline-head"><strong>${title}</strong> ${time(at, now)}</p>${body && html`<div class="timeline-body">${body}</div>`}</li>\n`,
  )}</ol>`;
}
