import { scaleLinear } from "d3-scale";
import { attributes, type Content, type Html, html } from "../../../kit/html.ts";
import { placeSpans } from "./span-tree.ts";
import { duration, isInstant, number, time } from "./units.ts";

/** A step of a session. Instants in milliseconds since the epoch, null when the agent did not say. */
export interface Span {
  readonly id: string;
  readonly parentId: string | null;
  readonly name: string;
  readonly kind: string | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** A short remark beside the name, e.g. tokens or a badge. */
  readonly note?: Content;
  readonly href?: string | undefined;
}

/** How many rows are drawn. */
const ROWS_DRAWN = 500;
const DEEPEST = 8;
/** In percent of the width: below this a bar could not be seen. */
const THINNEST = 0.5;

/**
 * A session's spans as a waterfall; as a plain list where none of them tells when it began.
 * @param total how many spans there are, when not all were handed in
 */
export function waterfall(spans: readonly Span[], now: number, total = spans.length): Html {
  if (spans.length === 0) return html`<p class="says">This session has no spans.</p>`;
  const drawn = placeSpans(spans).slice(0, ROWS_DRAWN);
  const left = Math.max(total, spans.length) - drawn.length;
  return html`${spans.some(({ startedAt }) => isInstant(startedAt)) ? axis(spans, drawn, now) : list(drawn)}
${left > 0 && html`<p class="says">${number(left)} more spans are not drawn.</p>`}`;
}

type Placed = readonly { readonly span: Span; readonly depth: number }[];

const frame = (head: Content, rows: Content): Html =>
  html`<div class="table-frame waterfall" role="region" aria-label="Spans" tabindex="0" data-scroll><table role="table"><caption class="vh">Spans of the session, nested by parent</caption>
<thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">Span</th>${head}</tr></thead>
<tbody role="rowgroup">${rows}</tbody></table></div>`;

function axis(spans: readonly Span[], drawn: Placed, now: number): Html {
  const { from, to } = extent(spans.map(readable));
  const place = scaleLinear([from, to === from ? from + 1 : to], [0, 100]);
  return frame(
    html`<th role="columnheader" scope="col" class="bar"><span class="vh">When, from 0 to ${duration(to - from)}</span>${ruler(to - from)}</th><th role="columnheader" scope="col" class="numeric">Duration</th>`,
    drawn.map(({ span, depth }) => row(readable(span), depth, place, from, now)),
  );
}

const list = (drawn: Placed): Html =>
  html`<p class="says">No span tells when it began, so they stand here in their order without an axis.</p>
${frame(
  false,
  drawn.map(
    ({ span, depth }) => html`<tr role="row"${attributes({ id: `span-${span.id}` })}>${title(span, depth)}</tr>\n`,
  ),
)}`;

/** Agents send any number as an instant; one that no calendar holds is not known. */
function readable(span: Span): Span {
  const { startedAt, endedAt } = span;
  return { ...span, startedAt: isInstant(startedAt) ? startedAt : null, endedAt: isInstant(endedAt) ? endedAt : null };
}

/** From the first to the last instant that is known, of which there is one at least. */
function extent(spans: readonly Span[]): { from: number; to: number } {
  let from = Infinity;
  let to = -Infinity;
  for (const { startedAt, endedAt } of spans)
    for (const at of [startedAt, endedAt])
      if (at !== null) {
        from = Math.min(from, at);
        to = Math.max(to, at);
      }
  return { from, to };
}

function ruler(span: number): Html {
  const at = [0, 25, 50, 75];
  return html`<svg class="ruler" width="100%" height="14" aria-hidden="true">${at.map((x) => html`<text x="${x}%" y="11" dx="${x === 0 ? 0 : 4}">${x === 0 ? "0" : duration((span * x) / 100)}</text>`)}</svg>`;
}

function row(span: Span, depth: number, place: (at: number) => number, from: number, now: number): Html {
  const { id, startedAt, endedAt } = span;
  const known = startedAt !== null && endedAt !== null && endedAt >= startedAt;
  const words = known ? duration(endedAt - startedAt) : startedAt !== null && endedAt === null ? "open" : "–";
  return html`<tr role="row"${attributes({ id: `span-${id}` })}>${title(span, depth)}
<td role="cell" class="bar">${startedAt !== null && bar(span, startedAt, place, from)}<span class="vh">${startedAt !== null && html`starts after ${duration(startedAt - from)}, `}${time(startedAt, now, "no start")}</span></td><td role="cell" class="numeric">${words}</td></tr>\n`;
}

function title({ name, kind, note, href }: Span, depth: number): Html {
  const label = name === "" ? "unnamed" : name;
  return html`<th role="rowheader" scope="row" class="depth-${Math.min(depth, DEEPEST)}"><span class="span-name">${href === undefined ? label : html`<a${attributes({ href })}>${label}</a>`}</span>${kind && html` <span class="span-kind ${kindClass(kind)}">${kind}</span>`}${depth > DEEPEST && html` <span class="span-kind">level ${depth}</span>`}${note && html` <span class="span-note">${note}</span>`}</th>`;
}

function bar({ kind, endedAt }: Span, startedAt: number, place: (at: number) => number, from: number): Html {
  const x = place(startedAt);
  const width = Math.max(THINNEST, place(Math.max(startedAt, endedAt ?? startedAt)) - x);
  const box = {
    x: `${fixed(Math.min(x, 100 - THINNEST))}%`,
    width: `${fixed(Math.min(width, 100 - Math.min(x, 100 - THINNEST)))}%`,
  };
  return html`<svg width="100%" height="16" aria-hidden="true"><rect${attributes({ ...box, y: 3, height: 10, rx: 2, class: kindClass(kind) })}><title>starts after ${duration(startedAt - from)}</title></rect></svg>`;
}

const fixed = (value: number) => Number(value.toFixed(2));

/** Kinds that mean something to a reader get a colour of their own; agents may write any. */
const KINDS: Readonly<Record<string, string>> = {
  llm: "span-model",
  model: "span-model",
  generation: "span-model",
  chat: "span-model",
  client: "span-model",
  tool: "span-tool",
  execute_tool: "span-tool",
  edit: "span-edit",
  commit: "span-edit",
  error: "span-error",
};

function kindClass(kind: string | null): string {
  const known = (kind ?? "").toLowerCase();
  return Object.hasOwn(KINDS, known) ? (KINDS[known] as string) : "span-other";
}
