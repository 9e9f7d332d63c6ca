import { promptTitle } from "../../../../formats/session.ts";
import { type Content, type Html, html } from "../../../../kit/html.ts";
import type { Session, Span } from "../../../../record/traces/traces.ts";
import { pager } from "../../ui/list.ts";
import { section } from "../../ui/parts.ts";
import { compact, duration, number, plural, time } from "../../ui/units.ts";
import type { Member } from "../shared/call.ts";
import { link } from "../shared/links.ts";
import { dollars } from "../spend/labels.ts";
import { type Budget, pageBudget, saidText } from "./said.ts";
import { drawEvent, stepId } from "./steps.ts";
import { type Event, eventsOf, lengthOf, type Turn, turnsOf, type Usage, usageOf } from "./turns.ts";

/** A session read as what it was: prompts, answers, tools with what came of them, commits and labels. */

const PAGE = 100;
/** Prompts that the list of them names. */
const MAX_PROMPTS_NAMED = 500;
const MAX_PROMPT_TITLE = 110;

/** The session page's part with the conversation, and where else on the page leads into it. */
export interface Conversation {
  readonly section: Content;
  /** Leads to a step, whichever page of the conversation it is on. */
  readonly hrefOf: (span: Span) => string | undefined;
  /** What the whole session used. */
  readonly usage: Usage;
}

export function conversationOf(call: Member, session: Session): Conversation {
  const events = eventsOf(session);
  const use = usageOf(call, session);
  const at = (index: number, fragment: string) => {
    const first = Math.floor(index / PAGE) * PAGE;
    return `${link(call, `/sessions/${session.id}`, { events: first === 0 ? undefined : first })}#${fragment}`;
  };
  const places = new Map(events.flatMap((event, i) => (event.kind === "step" ? [[event.span.id, i]] : [])));
  return {
    section: events.length > 0 && draw(call, events, use, at),
    hrefOf(span) {
      const index = places.get(span.id);
      return index === undefined ? undefined : at(index, stepId(span));
    },
    usage: use(session.spans),
  };
}

type Address = (index: number, fragment: string) => string;

function draw(call: Member, events: readonly Event[], use: ReturnType<typeof usageOf>, at: Address): Html {
  const first = Math.min(firstIn(call), Math.floor((events.length - 1) / PAGE) * PAGE);
  const last = Math.min(first + PAGE, events.length);
  const turns = turnsOf(events);
  const left = pageBudget();
  const shown = turns.filter((turn) => turn.first < last && turn.first + turn.events.length > first);
  return section({
    id: "conversation",
    title: "Conversation",
    intro: "What was asked, answered, run, changed and committed, in the order of time.",
    body: html`${promptList(turns, at)}
${shown.map((turn) => drawTurn(call, turn, [first, last], use, at, left))}
${pager({
  newer: first > 0 ? at(first - PAGE, "conversation") : undefined,
  older: last < events.length ? at(last, "conversation") : undefined,
  labels: { newer: "Earlier", older: "Later" },
  intro: events.length > PAGE && `${number(first + 1)} to ${number(last)} of ${number(events.length)}`,
})}`,
  });
}

function firstIn({ query }: Member): number {
  const text = query.get("events") ?? "";
  return /^\d{1,7}$/.test(text) ? Math.floor(Number(text) / PAGE) * PAGE : 0;
}

const promptId = (turn: Turn) => `prompt-${turn.number}`;

/** All prompts by their first words, each a link to where it was asked. */
function promptList(turns: readonly Turn[], at: Address): Content {
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

function drawTurn(
  call: Member,
  turn: Turn,
  [from, to]: readonly [number, number],
  use: ReturnType<typeof usageOf>,
  at: Address,
  left: Budget,
): Html {
  const begins = turn.first >= from;
  const [opening] = turn.events;
  const within = turn.events
    .map((event, i) => ({ event, place: turn.first + i }))
    .filter(({ place }) => place >= from && place < to);
  const items = within.map(({ event, place }) => event.kind !== "prompt" && drawEvent(call, event, place + 1, left));
  return html`<section class="turn"${begins && turn.number > 0 && html` id="${promptId(turn)}"`}>
<header class="turn-head"><h3>${heading(turn, begins, at)}</h3> ${begins && time(opening?.at ?? null, call.core.clock.now())}${begins && html`<p class="says">${turnSum(turn, use)}</p>`}</header>
${begins && opening?.kind === "prompt" && html`<div class="asked">${promptText(opening, left)}</div>`}
${items.some(Boolean) && html`<ol class="timeline">${items}</ol>`}</section>\n`;
}

function heading(turn: Turn, begins: boolean, at: Address): Content {
  if (turn.number === 0) return begins ? "Before the first prompt" : "Before the first prompt, continued";
  const name = `Prompt ${number(turn.number)}`;
  const to = html`<a href="${at(turn.first, promptId(turn))}">${name}</a>`;
  return begins ? to : html`${to}, continued`;
}

function promptText({ prompt, number: nth }: Extract<Event, { kind: "prompt" }>, left: Budget): Html {
  const { text, chars } = prompt;
  if (text !== null) return saidText(text, `Prompt ${nth}`, left);
  const size = chars === null ? "" : ` of ${plural(chars, "character")}`;
  return html`<p class="muted">A prompt${size}, of which the team’s policy keeps no text.</p>`;
}

/** What came of a prompt, in one line. */
function turnSum(turn: Turn, use: ReturnType<typeof usageOf>): string {
  const spans = turn.events.flatMap((event) => (event.kind === "step" ? [event.span] : []));
  const length = lengthOf(turn);
  const edits = spans.reduce((sum, span) => sum + span.edits.length, 0);
  const { calls, tokens, usd, reportedUsd } = use(spans);
  const all = Object.values(tokens ?? {}).reduce((sum: number, count) => sum + (count ?? 0), 0);
  const cost = usd ?? reportedUsd;
  return [
    length !== null && duration(length),
    plural(spans.length, "step"),
    edits > 0 && plural(edits, "edit"),
    calls > 0 && plural(calls, "model call"),
    all > 0 && `${compact(all)} tokens`,
    cost !== null && dollars(cost),
  ]
    .filter((part) => part !== false)
    .join(" · ");
}
