import { scaleLinear } from "d3-scale";
import { attributes, type Content, type Html, html } from "../../../kit/html.ts";
import { duration, isInstant, time } from "./units.ts";

/** When a step began and ended, in milliseconds since the epoch; null when the agent did not say. */
export interface Timed {
  readonly startedAt: number | null;
  readonly endedAt: number | null;
}

/** A step on its row. */
export interface Row extends Timed {
  /** Names the row in the page: `span-KEY`. */
  readonly key: string | number;
  /** How deep it lies below others; 0 for a root. */
  readonly depth: number;
  readonly name: string;
  readonly kind: string | null;
  readonly failed: boolean;
  /** A short remark beside the name, e.g. tokens or a badge. */
  readonly note?: Content;
  /** Opens the row, or closes it where it is open. */
  readonly href: string;
  /** What is shown below it while it is open. */
  readonly detail: Content;
}

const DEEPEST = 8;
/** In percent of the width: below this a bar could not be seen. */
const THINNEST = 0.5;

/**
 * Some rows of a waterfall, on an axis over all of it; as a plain list where nothing tells when it began.
 * @param all what the axis reaches over
 */
export function waterfall(rows: readonly Row[], all: readonly Timed[], now: number): Html {
  if (rows.length === 0) return html`<p class="says">No steps were recorded.</p>`;
  return all.some(({ startedAt }) => isInstant(startedAt)) ? axis(rows, all, now) : list(rows);
}

const frame = (head: Content, rows: Content): Html =>
  html`<div class="table-frame waterfall" role="region" aria-label="Steps" tabindex="0" data-scroll><table role="table"><caption class="vh">Steps of the session, nested by parent</caption>
<thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">Step</th>${head}</tr></thead>
<tbody role="rowgroup">${rows}</tbody></table></div>`;

function axis(rows: readonly Row[], all: readonly Timed[], now: number): Html {
  const { from, to } = extent(all.map(readable));
  const length = to === from ? 1 : to - from;
  const place = scaleLinear([from, from + length], [0, 100]);
  return frame(
    html`<th role="columnheader" scope="col" class="bar"><span class="vh">When, from 0 to ${duration(to - from)}</span>${ruler(length)}</th><th role="columnheader" scope="col" class="numeric">Duration</th>`,
    rows.map((one) => row(readable(one), place, from, now)),
  );
}

const list = (rows: readonly Row[]): Html =>
  html`<p class="says">No step tells when it began: they are listed in the order they came in.</p>
${frame(
  false,
  rows.map((one) => html`<tr role="row" id="span-${one.key}">${title(one)}</tr>\n${detailRow(one, 1)}`),
)}`;

/** Agents send any number as an instant; one that no calendar holds is not known. */
function readable<T extends Timed>(one: T): T {
  const { startedAt, endedAt } = one;
  return { ...one, startedAt: isInstant(startedAt) ? startedAt : null, endedAt: isInstant(endedAt) ? endedAt : null };
}

/** From the first to the last instant that is known, of which there is one at least. */
function extent(all: readonly Timed[]): { from: number; to: number } {
  let from = Infinity;
  let to = -Infinity;
  for (const { startedAt, endedAt } of all)
    for (const at of [startedAt, endedAt])
      if (at !== null) {
        from = Math.min(from, at);
        to = Math.max(to, at);
      }
  return { from, to };
}

const MAX_TICKS = 6;
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const ROUND = [1, 2, 5, 10, 20, 50, 100, 200, 500];
const STEPS = [
  ...ROUND,
  ...[SECOND, MINUTE].flatMap((unit) => ROUND.filter((n) => n < 60 && n !== 50).map((n) => n * unit)),
];

/** The round steps of an axis of some milliseconds: 1, 2 or 5 times a power of ten of ms, s, min or h, six at most. */
export function ticksOf(length: number): number[] {
  let step = STEPS.find((one) => length / one <= MAX_TICKS);
  for (let power = HOUR; step === undefined; power *= 10)
    step = [1, 2, 5].map((n) => n * power).find((one) => length / one <= MAX_TICKS);
  return Array.from({ length: Math.floor(length / step) + 1 }, (_, i) => i * step);
}

/** In percent of the axis: the label of a tick beyond `LAST` stands left of it, if the tick before is at least `ROOM` away. */
const LAST = 88;
const ROOM = 25;

/** The axis with its ticks; the lines below them are drawn in every row from here. */
function ruler(length: number): Html {
  const ticks = ticksOf(length).map((at) => ({ at, x: fixed((100 * at) / length) }));
  const lines = ticks.map(({ at, x }) => at > 0 && html`<line x1="${x}%" x2="${x}%" y1="0" y2="100%"/>`);
  const labels = ticks.map(({ at, x }, i) => {
    const isLast = x > LAST;
    if (isLast && x - (ticks[i - 1]?.x ?? 0) < ROOM) return "";
    const place = isLast ? { dx: -4, "text-anchor": "end" } : { dx: at === 0 ? 0 : 4 };
    return html`<text x="${x}%" y="11"${attributes(place)}>${at === 0 ? "0" : duration(at)}</text>`;
  });
  return html`<svg class="ruler" width="100%" height="14" aria-hidden="true"><defs><g id="ticks" class="ticks">${lines}</g></defs>${labels}</svg>`;
}

function row(one: Row, place: (at: number) => number, from: number, now: number): Html {
  const { key, startedAt, endedAt } = one;
  const known = startedAt !== null && endedAt !== null && endedAt >= startedAt;
  const words = known ? duration(endedAt - startedAt) : startedAt !== null && endedAt === null ? "open" : "–";
  return html`<tr role="row" id="span-${key}"${one.detail && html` class="opened"`}>${title(one)}
<td role="cell" class="bar"><svg aria-hidden="true"><use href="#ticks"/>${startedAt !== null && bar(one, startedAt, place)}</svg><span class="vh">${startedAt !== null && html`starts after ${duration(startedAt - from)}, `}${time(startedAt, now, "no start")}</span></td><td role="cell" class="numeric">${words}</td></tr>\n${detailRow(one, 3)}`;
}

const detailRow = ({ detail }: Row, columns: number): Content =>
  detail &&
  html`<tr role="row" class="detail"><td role="cell" colspan="${columns}"><div class="stack">${detail}</div></td></tr>\n`;

function title({ key, name, kind, note, depth, failed, href, detail }: Row): Html {
  const label = name === "" ? "unnamed" : name;
  const mark = failed && html`<span class="failed-mark" aria-hidden="true">✕</span><span class="vh">Failed: </span>`;
  const link = html`<a${attributes({ href: `${href}#span-${key}`, id: `open-${key}`, "data-swap": "#steps", "aria-expanded": detail ? "true" : "false" })}>${label}</a>`;
  return html`<th role="rowheader" scope="row" class="depth-${Math.min(depth, DEEPEST)}"><span class="span-name">${mark}${link}</span>${kind && html` <span class="span-kind ${kindClass(kind, failed)}">${kind}</span>`}${depth > DEEPEST && html` <span class="span-kind">level ${depth}</span>`}${note && html` <span class="span-note">${note}</span>`}</th>`;
}

function bar({ kind, failed, endedAt }: Row, startedAt: number, place: (at: number) => number): Html {
  const x = Math.min(place(startedAt), 100 - THINNEST);
  const width = Math.max(THINNEST, place(Math.max(startedAt, endedAt ?? startedAt)) - x);
  const box = { x: `${fixed(x)}%`, width: `${fixed(Math.min(width, 100 - x))}%` };
  return html`<rect${attributes({ ...box, y: "50%", height: 10, rx: 2, transform: "translate(0 -5)", class: kindClass(kind, failed) })}/>`;
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

function kindClass(kind: string | null, failed: boolean): string {
  const known = (kind ?? "").toLowerCase();
  if (failed) return "span-error";
  return Object.hasOwn(KINDS, known) ? (KINDS[known] as string) : "span-other";
}
