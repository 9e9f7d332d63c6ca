import { attributes, type Content, type Html, html } from "../../../kit/html.ts";
import type { Kind } from "./badge.ts";

/** A figure of the overview. */
export interface Stat {
  readonly label: Content;
  readonly value: Content;
  /** What it compares to, or a sparkline. */
  readonly sub?: Content;
  readonly href?: string | undefined;
  readonly tone?: Kind | undefined;
}

/** Tiles of figures, as many beside one another as fit. */
export function stats(tiles: readonly Stat[]): Html {
  return html`<dl class="stats">${tiles.map(tile)}</dl>`;
}

function tile({ label, value, sub, href, tone }: Stat): Html {
  return html`<div class="stat ${tone}"><dt>${href === undefined ? label : html`<a${attributes({ href })}>${label}</a>`}</dt><dd class="stat-value">${value}</dd>${sub && html`<dd class="stat-sub">${sub}</dd>`}</div>`;
}
