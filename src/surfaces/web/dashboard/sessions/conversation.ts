import { promptTitle } from "../../../../formats/session.ts";
import { type Content, type Html, html } from "../../../../kit/html.ts";
import { type Span, sessionSpans } from "../../../../record/traces/traces.ts";
import { pager } from "../../ui/list.ts";
import { anchor } from "../../ui/parts.ts";
import { compact, duration, isInstant, number, plural } from "../../ui/units.ts";
import { short } from "../shared/text.ts";
import { costText } from "../spend/labels.ts";
import { type Budget, pageBudget, saidText } from "./said.ts";
import { attemptOf, drawEvent, eventId, failureBadge, type Spot, stepId, stepName, timeWithin } from "./steps.ts";
import {
  type Event,
  eventsOf,
  failedSteps,
  lengthOf,
  type Turn,
  turnsOf,
  type Usage,
  type UsageOfSpans,
  usageOf,
} from "./turns.ts";
import { addressOf, type Visit } from "./visit.ts";

/** A session read as what it was: prompts, answers, tools with what came of them, commits and labels. */

const PAGE = 100;
/** Prompts that the list of them names. */
const MAX_PROMPTS_NAMED = 500;
const MAX_PROMPT_TITLE = 110;
/** Failed steps that are named before the first prompt. */
const MAX_FAILURES_NAMED = 3;

/** Where things stand in the transcript, whichever of its pages they are on. */
export interface Places {
  /** Leads to a step; undefined for one that only stands for others below it. */
  readonly hrefOf: (span: Span) => string | undefined;
  /** The steps that failed, in the order of the transcript. */
  readonly failures: readonly Span[];
}

interface Drawing {
  readonly visit: Visit;
  readonly use: UsageOfSpans;
  readonly at: (index: number, fragment: string) => string;
  readonly places: Places;
  readonly left: Budget;
}

const addressAt = (visit: Visit) => (index: number, fragment: string) => {
  const first = Math.floor(index / PAGE) * PAGE;
  return `${addressOf(visit, "", { events: first === 0 ? undefined : first })}#${fragment}`;
};

export function placesOf(visit: Visit, events = eventsOf(visit.session)): Places {
  const at = addressAt(visit);
  const indexes = new Map(events.flatMap((event, i) => (event.kind === "step" ? [[event.span.id, i]] : [])));
  const failed = failedSteps(visit.session.spans);
  return {
    hrefOf(span) {
      const index = indexes.get(span.id);
      return index === undefined ? undefined : at(index, stepId(span));
    },
    failures: events.flatMap((event) => (event.kind === "step" && failed.has(event.span) ? [event.span] : [])),
  };
}

interface Transcript {
  /** What failed, by itself: most readers come for it, so it stands before all else. */
  readonly failed: Content;
  readonly body: Html;
  readonly used: Usage;
  readonly places: Places;
}

/** The transcript, and what the whole session used. */
export async function transcriptOf(visit: Visit): Promise<Transcript> {
  const { call, session } = visit;
  const events = eventsOf(session);
  const places = placesOf(visit, events);
  const use = await usageOf(call, session);
  const drawing = { visit, use, at: addressAt(visit), places, left: pageBudget() };
  const body = html`<section class="transcript" id="transcript"><h2 class="vh">Transcript</h2>
${events.length > 0 ? draw(drawing, events) : html`<p class="says">Neither prompts nor steps were recorded.</p>`}</section>`;
  return { failed: failureBar(visit, places), body, used: use(session.spans), places };
}

function draw(drawing: Drawing, events: readonly Event[]): Html {
  const { visit, at } = drawing;
  const first = Math.min(firstIn(visit), Math.floor((events.length - 1) / PAGE) * PAGE);
  const last = Math.min(first + PAGE, events.length);
  const turns = turnsOf(events);
  const shown = turns.filter((turn) => turn.first < last && turn.first + turn.events.length > first);
  return html`${promptList(turns, at)}
${shown.map((turn) => drawTurn(drawing, turn, [first, last]))}
${pager({
  newer: first > 0 ? at(first - PAGE, "transcript") : undefined,
  older: last < events.length ? at(last, "transcript") : undefined,
  labels: { newer: "Earlier", older: "Later" },
  intro: events.length > PAGE && `${number(first + 1)} to ${number(last)} of ${number(events.length)}`,
})}`;
}

function firstIn({ call: { query } }: Visit): number {
  const text = query.get("events") ?? "";
  return /^\d{1,7}$/.test(text) ? Math.floor(Number(text) / PAGE) * PAGE : 0;
}

/** How many steps failed, what the first of them tried, and the way there. */
function failureBar({ call }: Visit, { failures, hrefOf }: Places): Content {
  const [first] = failures;
  if (!first) return false;
  const named = failures.slice(0, MAX_FAILURES_NAMED);
  const line = (span: Span) =>
    html`<li><a href="${hrefOf(span)}"><strong>${short(stepName(span) || "Step", 60)}</strong> <code>${attemptOf(sessionSpans.whole(call.core, span))}</code></a> ${failureBadge(span)}</li>\n`;
  return html`<section class="failures" aria-label="Failures"><p><strong>${plural(failures.length, "failed step")}</strong><a class="button small" href="${hrefOf(first)}">Jump to the failure</a></p>
<ul>${named.map(line)}</ul>${failures.length > named.length && html`<p class="says">and ${number(failures.length - named.length)} more</p>`}</section>`;
}

/** From one failure to those before and after it. */
function failureWays({ failures, hrefOf }: Places, span: Span): Content {
  const i = failures.indexOf(span);
  if (i === -1 || failures.length < 2) return false;
  const [before, after] = [failures[i - 1], failures[i + 1]];
  return html`<span class="ways">${before && html`<a href="${hrefOf(before)}"><span aria-hidden="true">↑</span><span class="vh">Previous failure</span></a>`}<span>${number(i + 1)}/${number(failures.length)}</span>${after && html`<a href="${hrefOf(after)}"><span aria-hidden="true">↓</span><span class="vh">Next failure</span></a>`}</span>`;
}

const promptId = (turn: Turn) => `prompt-${turn.number}`;

/** All prompts by their first words, each a link to where it was asked. */
function promptList(turns: readonly Turn[], at: Drawing["at"]): Content {
  const prompted = turns.filter(({ number }) => number > 0);
  if (prompted.length < 2) return false;
  const named = prompted.slice(0, MAX_PROMPTS_NAMED);
  return html`<details class="numbers"><summary>All ${number(prompted.length)} prompts</summary><ol class="prompts">${named.map(
    (turn) => html`<li><a href="${at(turn.first, promptId(turn))}">${promptLine(turn.events[0])}</a></li>\n`,
  )}</ol>${prompted.length > named.length && html`<p class="says">and ${plural(prompted.length - named.length, "more prompt")}</p>`}</details>`;
}

function promptLine(event: Event | undefined): string {
  if (event?.kind !== "prompt") return "";
  const title = promptTitle(event.prompt);
  return title === null ? `Prompt ${number(event.number)}` : title.slice(0, MAX_PROMPT_TITLE).toWellFormed();
}

function drawTurn(drawing: Drawing, turn: Turn, [from, to]: readonly [number, number]): Html {
  const { visit, use, at, left } = drawing;
  const begins = turn.first >= from;
  const [opening] = turn.events;
  const within = turn.events
    .map((event, i) => ({ event, place: turn.first + i }))
    .filter(({ place }) => place >= from && place < to);
  const items = within.map(
    ({ event, place }) => event.kind !== "prompt" && drawEvent(visit, event, spotOf(drawing, event, place), left),
  );
  return html`<section class="turn"${begins && turn.number > 0 && html` id="${promptId(turn)}"`}>
<header class="turn-head"><h3>${heading(turn, begins, at)}</h3>${begins && html`<p class="says">${turnSum(turn, use)}</p> ${isInstant(opening?.at ?? null) && timeWithin(visit, opening?.at ?? null)}`}</header>
${begins && opening?.kind === "prompt" && html`<div class="asked">${promptText(opening, left)}</div>`}
${items.some(Boolean) && html`<ol class="timeline">${items}</ol>`}</section>\n`;
}

function spotOf({ at, places }: Drawing, event: Exclude<Event, { kind: "prompt" }>, index: number): Spot {
  return {
    place: index + 1,
    href: at(index, eventId(event, index + 1)),
    failures: event.kind === "step" && failureWays(places, event.span),
  };
}

function heading(turn: Turn, begins: boolean, at: Drawing["at"]): Content {
  if (turn.number === 0) return begins ? "Before the first prompt" : "Before the first prompt, continued";
  const name = `Prompt ${number(turn.number)}`;
  const to = anchor(at(turn.first, promptId(turn)), name);
  return begins ? to : html`${to}, continued`;
}

function promptText({ prompt, number: nth }: Extract<Event, { kind: "prompt" }>, left: Budget): Html {
  const { text, chars } = prompt;
  if (text !== null) return saidText(text, `Prompt ${nth}`, left);
  const size = chars === null ? "" : `, ${plural(chars, "character")}`;
  return html`<p class="muted">Text not recorded (metadata only)${size}.</p>`;
}

/** What came of a prompt, in one line. */
function turnSum(turn: Turn, use: UsageOfSpans): string {
  const spans = turn.events.flatMap((event) => (event.kind === "step" ? [event.span] : []));
  const length = lengthOf(turn);
  const edits = spans.reduce((sum, span) => sum + span.edits.length, 0);
  const { calls, tokens, usd, reportedUsd } = use(spans);
  const all = Object.values(tokens ?? {}).reduce((sum: number, count) => sum + (count ?? 0), 0);
  const cost = costText({ usd, reportedUsd });
  return [
    length !== null && duration(length),
    plural(spans.length, "step"),
    edits > 0 && plural(edits, "edit"),
    calls > 0 && plural(calls, "model call"),
    all > 0 && `${compact(all)} tokens`,
    cost !== null && cost,
  ]
    .filter((part) => part !== false)
    .join(" · ");
}
