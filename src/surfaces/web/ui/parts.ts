import { attributes, type Content, type Html, html } from "../../../kit/html.ts";
import { time } from "./units.ts";

/** What pages are made of. */

/** What something means at a glance. Never shown by colour alone: each kind has a mark of its own beside its words. */
export type Kind = "good" | "warn" | "bad" | "neutral" | "info" | "running";

/** A small status label, e.g. `badge("bad", "Revoked")`. The mark before the text is drawn by the style sheet. */
export function badge(kind: Kind, text: Content): Html {
  return html`<span class="badge ${kind}">${text}</span>`;
}

/** The same as a mark alone, where room is short; its words are read out, and seen when it is pointed at. */
export function mark(kind: Kind, text: string): Html {
  return html`<span class="glyph ${kind}"${attributes({ title: text })}><span class="vh">${text}</span></span>`;
}

/** What a cell shows where there is nothing. */
export const none = html`<span class="none">–</span>`;

/** A link in running text or a cell. */
export const anchor = (href: string, text: Content): Html => html`<a href="${href}">${text}</a>`;

/** A step on the way to a page; the last one has no address. */
export interface Crumb {
  readonly label: string;
  readonly href?: string | undefined;
}

/** What stands above the content of a page. */
export interface PageHead {
  readonly title: Content;
  /** One line: what this page is for. */
  readonly intro?: Content;
  /** What takes explaining; folded behind a "?". */
  readonly help?: Content;
  /** Buttons and links on the right. */
  readonly actions?: Content;
  readonly crumbs?: readonly Crumb[] | undefined;
}

/** The head of a page; holds the only `h1`. */
export function pageHead({ title, intro, help, actions, crumbs }: PageHead): Html {
  return html`<header class="page-head">
${crumbs && crumbs.length > 0 && html`<nav aria-label="Breadcrumbs" class="crumbs"><ol>${crumbs.map(crumb)}</ol></nav>`}
<div class="page-head-row"><div><div class="titled"><h1>${title}</h1>${help && helpMark(help)}</div>${intro && html`<p class="says">${intro}</p>`}</div>
${actions && html`<div class="actions">${actions}</div>`}</div></header>`;
}

/** A "?" that opens an explanation, by pointer or keyboard, without the script. */
export function helpMark(explanation: Content): Html {
  return html`<details class="help" data-menu><summary aria-label="What this means">?</summary><div class="help-panel">${explanation}</div></details>`;
}

function crumb({ label, href }: Crumb): Html {
  return href === undefined
    ? html`<li><span aria-current="page">${label}</span></li>`
    : html`<li><a${attributes({ href })}>${label}</a></li>`;
}

/** A page beside this one. */
export interface Tab {
  readonly label: string;
  readonly href: string;
  readonly current: boolean;
  /** Names of the query that the script copies into `href` whenever filters change the page's own address. */
  readonly keeps?: readonly string[];
}

/** Links between the pages of one thing. */
export function tabs(label: string, list: readonly Tab[]): Html {
  return html`<nav class="tabs" aria-label="${label}"><ul>${list.map(
    ({ label, href, current, keeps }) =>
      html`<li><a${attributes({ href, "aria-current": current && "page", "data-keeps": keeps?.join(" ") })}>${label}</a></li>`,
  )}</ul></nav>`;
}

/** A few alternatives of which one is chosen, each a link. */
export function choices(label: string, list: readonly Tab[]): Html {
  return html`<nav class="choices" aria-label="${label}"><ul>${list.map(
    ({ label, href, current }) =>
      html`<li><a${attributes({ href, "aria-current": current && "true" })}>${label}</a></li>`,
  )}</ul></nav>`;
}

/** A part of a page under its own heading. */
export interface Section {
  readonly title: Content;
  readonly intro?: Content;
  /** What takes explaining; folded behind a "?". */
  readonly help?: Content;
  readonly actions?: Content;
  readonly body: Content;
  readonly id?: string | undefined;
  /** Frames the body like a card; for forms and lists of facts. Tables and charts bring their own frame. */
  readonly framed?: boolean | undefined;
}

/** A titled part of a page (`h2`). */
export function section({ title, intro, help, actions, body, id, framed }: Section): Html {
  return html`<section class="section"${attributes({ id })}><div class="section-head"><div><div class="titled"><h2>${title}</h2>${help && helpMark(help)}</div>${intro && html`<p class="says">${intro}</p>`}</div>
${actions && html`<div class="actions">${actions}</div>`}</div>
${framed ? html`<div class="card">${body}</div>` : body}</section>`;
}

/** Sets parts side by side where there is room (each at least 22 rem wide), below one another where not. */
export function columns(...parts: readonly Content[]): Html {
  return html`<div class="columns">${parts.map((part) => html`<div>${part}</div>`)}</div>`;
}

/** What stands where there is nothing yet. */
export interface Empty {
  /** What is not there, e.g. `No devices yet`. */
  readonly title: Content;
  /** What this place is for and what to do next. */
  readonly intro: Content;
  readonly actions?: Content;
  /** A command to copy. */
  readonly code?: string | undefined;
}

/** An empty state: what this is for, what to do next. */
export function empty({ title, intro, actions, code }: Empty): Html {
  return html`<div class="empty"><p class="empty-title">${title}</p><p class="says">${intro}</p>${code !== undefined && codeBlock(code, { label: "Command" })}${actions && html`<div class="actions">${actions}</div>`}</div>`;
}

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

/** A figure of the overview. */
export interface Stat {
  readonly label: Content;
  readonly value: Content;
  /** What it compares to. */
  readonly sub?: Content;
  /** Its course, e.g. `sparkline(…)`. */
  readonly spark?: Content;
  readonly href?: string | undefined;
  readonly tone?: Kind | undefined;
}

/** Tiles of figures, as many beside one another as fit. */
export function stats(tiles: readonly Stat[]): Html {
  return html`<dl class="stats of-${tiles.length}">${tiles.map(tile)}</dl>`;
}

function tile({ label, value, sub, spark, href, tone }: Stat): Html {
  return html`<div class="stat ${tone}"><dt>${href === undefined ? label : html`<a${attributes({ href })}>${label}</a>`}</dt><dd class="stat-value">${value}</dd>${sub && html`<dd class="stat-sub">${sub}</dd>`}${spark && html`<dd class="stat-spark">${spark}</dd>`}</div>`;
}

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

/** The frame of rendered markdown: a readable measure, and styles for its bare elements. */
export function prose(rendered: Html): Html {
  return html`<div class="prose">${rendered}</div>`;
}

/** What a code block may be told. */
export interface CodeOptions {
  /** What it is; shown above it with `titled`, always read out. */
  readonly label?: string | undefined;
  readonly titled?: boolean | undefined;
  /** Breaks long lines instead of scrolling. */
  readonly wrap?: boolean | undefined;
  /** Limits its height; the rest scrolls. */
  readonly tall?: boolean | undefined;
}

/** A block of code or a command; the script adds a copy button. */
export function codeBlock(text: string, { label = "Code", titled, wrap, tall }: CodeOptions = {}): Html {
  const names = ["code", wrap && "wrap", tall && "tall"].filter(Boolean).join(" ");
  // The line break after the tag is the parser's to drop; one at the start of the text itself is kept.
  return html`<figure class="${names}" data-copy>${titled && html`<figcaption>${label}</figcaption>`}<pre${attributes({ tabindex: 0, role: "region", "aria-label": label })}>\n<code>${text}</code></pre></figure>`;
}

/** A credential that is shown once. */
export interface SecretOnce {
  readonly label: Content;
  readonly value: string;
  /** Why it is shown once and where it belongs. */
  readonly intro: Content;
  /** More facts, e.g. `countdown(…)`. */
  readonly more?: Content;
}

/** A box for a credential shown once. One click selects it whole. */
export function secretOnce({ label, value, intro, more }: SecretOnce): Html {
  return html`<div class="secret" data-copy><p class="secret-label">${label}</p><code class="secret-value">${value}</code><p class="says">${intro}</p>${more && html`<p>${more}</p>`}</div>`;
}

/** Text of our own in which backticks mark code, as the API's descriptions are written. */
export function withCode(text: string): Html {
  return html`${text.split(/(`[^`]+`)/).map((part) => (/^`.+`$/.test(part) ? html`<code>${part.slice(1, -1)}</code>` : part))}`;
}
