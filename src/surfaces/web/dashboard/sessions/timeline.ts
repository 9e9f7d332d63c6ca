import { type Content, type Html, html } from "../../../../kit/html.ts";
import type { Session } from "../../../../record/traces/traces.ts";
import { pager } from "../../ui/list.ts";
import { codeBlock, section, type TimelineEvent, timeline } from "../../ui/parts.ts";
import { number, plural } from "../../ui/units.ts";
import type { Member } from "../shared/call.ts";
import { link } from "../shared/links.ts";
import { shaText, short } from "../shared/text.ts";

/** Prompts, edits, commits and labels of a session in the order of time. */

const PAGE = 100;
const EXCERPT_LINES = 8;
const EXCERPT_CHARS = 700;
/** Whole prompts that one page carries, in UTF-16 units. */
const MAX_PROMPT_TEXT = 512 * 1024;
const MAX_EDITS_NAMED = 12;

interface Event {
  readonly at: number | null;
  readonly draw: () => Omit<TimelineEvent, "at">;
}

export function timelineSection(call: Member, session: Session): Content {
  const events = eventsOf(session);
  if (events.length === 0) return false;
  const first = Math.min(firstIn(call), Math.floor((events.length - 1) / PAGE) * PAGE);
  const shown = events.slice(first, first + PAGE);
  const at = (from: number) =>
    `${link(call, `/sessions/${session.id}`, { events: from === 0 ? undefined : from })}#timeline`;
  return section({
    id: "timeline",
    title: "Timeline",
    intro: "What was asked, changed, committed and marked, in the order of time.",
    body: html`${timeline(
      shown.map(({ at, draw }) => ({ at, ...draw() })),
      call.core.clock.now(),
    )}
${pager({
  newer: first > 0 ? at(Math.max(0, first - PAGE)) : undefined,
  older: first + PAGE < events.length ? at(first + PAGE) : undefined,
  labels: { newer: "Earlier", older: "Later" },
  intro: events.length > PAGE && `${number(first + 1)} to ${number(first + shown.length)} of ${number(events.length)}`,
})}`,
  });
}

function firstIn({ query }: Member): number {
  const text = query.get("events") ?? "";
  return /^\d{1,7}$/.test(text) ? Math.floor(Number(text) / PAGE) * PAGE : 0;
}

function eventsOf(session: Session): Event[] {
  const budget = { text: MAX_PROMPT_TEXT };
  const { prompts, commits, spans, labels } = session;
  const startOf = new Map(spans.map(({ externalId, startedAt }) => [externalId, startedAt]));
  const events: Event[] = [
    ...prompts.map(({ at, text }, i) => ({
      at,
      draw: () => ({ kind: "info" as const, title: "Prompt", body: promptBody(text, `Prompt ${i + 1}`, budget) }),
    })),
    ...spans
      .filter(({ edits }) => edits.length > 0)
      .map(({ edits, endedAt, startedAt }) => ({
        at: endedAt ?? startedAt,
        draw: () => ({ kind: "neutral" as const, title: editTitle(edits), body: editBody(edits) }),
      })),
    ...commits.map(({ sha, at }) => ({
      at,
      draw: () => ({ kind: "good" as const, title: html`Commit <code>${shaText(sha)}</code>`, body: undefined }),
    })),
    ...labels.map(({ name, value, comment, spanId }) => ({
      at: spanId === null ? null : (startOf.get(spanId) ?? null),
      draw: () => ({
        kind: "warn" as const,
        title: `Label ${short(name ?? "unnamed", 120)}${value === null ? "" : `: ${short(String(value), 120)}`}`,
        body: comment && short(comment, 500),
      }),
    })),
  ];
  // The sort is stable: what happened at once, and what has no time, stays as it was sent.
  return events.sort((a, b) => (a.at ?? Infinity) - (b.at ?? Infinity) || 0);
}

type Edits = Session["spans"][number]["edits"];

function editTitle(edits: Edits): string {
  const paths = new Set(edits.map(({ path }) => path));
  return paths.size === 1 ? "Edited a file" : `Edited ${plural(paths.size, "file")}`;
}

function editBody(edits: Edits): Html {
  const named = edits.slice(0, MAX_EDITS_NAMED);
  return html`${named.map(({ path, startLine, endLine }, i) => html`${i > 0 && html`<br>`}<code>${short(path, 240)}</code>${startLine !== null && html` <span class="muted">${endLine === null || endLine === startLine ? `line ${startLine}` : `lines ${startLine} to ${endLine}`}</span>`}`)}${edits.length > named.length && html`<br><span class="muted">and ${plural(edits.length - named.length, "more edit", "more edits")}</span>`}`;
}

/** A prompt; a long one by its beginning, with the whole behind a click. */
function promptBody(text: string, label: string, budget: { text: number }): Html {
  const trimmed = text.trim();
  const lines = trimmed.split("\n", EXCERPT_LINES + 1);
  const isShort = lines.length <= EXCERPT_LINES && trimmed.length <= EXCERPT_CHARS;
  if (isShort) return codeBlock(trimmed, { label, wrap: true });
  const excerpt = short(lines.slice(0, EXCERPT_LINES).join("\n"), EXCERPT_CHARS);
  budget.text -= trimmed.length;
  const rest =
    budget.text < 0
      ? html`<p class="says">${number(trimmed.length)} characters in all; the rest stands in the record.</p>`
      : html`<details class="numbers"><summary>Show the whole prompt, ${number(trimmed.length)} characters</summary>${codeBlock(trimmed, { label: `${label}, whole`, wrap: true, tall: true })}</details>`;
  return html`${codeBlock(excerpt.endsWith("…") ? excerpt : `${excerpt}\n…`, { label: `${label}, beginning`, wrap: true })}${rest}`;
}
