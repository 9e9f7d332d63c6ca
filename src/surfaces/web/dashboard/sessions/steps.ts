import { answerText } from "../../../../formats/step.ts";
import { readToolInput, type ToolInput } from "../../../../formats/tool-input.ts";
import { parseJson } from "../../../../formats/values.ts";
import { dayNumber } from "../../../../kit/clock.ts";
import { attributes, type Content, type Html, html } from "../../../../kit/html.ts";
import { isObject } from "../../../../kit/json.ts";
import { type Span, sessionSpans } from "../../../../record/traces/traces.ts";
import { anchor, badge, type Kind } from "../../ui/parts.ts";
import { clockTime, compact, duration, isInstant, number, plural, time } from "../../ui/units.ts";
import type { Member } from "../shared/call.ts";
import { shaText, short } from "../shared/text.ts";
import { changesOf, drawChanges } from "./diffs.ts";
import { answered, type Budget, toolText } from "./said.ts";
import type { Event } from "./turns.ts";
import type { Visit } from "./visit.ts";

/** One event of a conversation below its prompt: an answer, a tool's use, a commit, a label. */

const MAX_EDITS_NAMED = 12;
const MAX_LINE = 160;
const MAX_PATH = 240;

/** What stands on one line, and below it. */
interface Drawn {
  readonly kind: Kind;
  readonly title: Content;
  /** Beside the title. */
  readonly note?: Content;
  readonly body?: Content;
}

/** Where an event is drawn. */
export interface Spot {
  /** Tells it from every other event of the session, for those who hear the page. */
  readonly place: number;
  /** Leads to the event itself. */
  readonly href: string;
  /** Ways to the failures around it, for a step that failed. */
  readonly failures: Content;
}

/** Where a step stands in the conversation; the waterfall leads there. */
export const stepId = ({ id }: Pick<Span, "id">): string => `step-${id}`;

export type Listed = Exclude<Event, { kind: "prompt" }>;

/** The id of an event's element. */
export const eventId = (event: Listed, place: number): string =>
  event.kind === "step" ? stepId(event.span) : `event-${place}`;

export function drawEvent(visit: Visit, event: Listed, spot: Spot, left: Budget): Html {
  const { kind, title, note, body } = draw(visit.call, event, spot.place, left);
  const at = isInstant(event.at) && anchor(spot.href, timeWithin(visit, event.at));
  return html`<li${attributes({ class: kind, id: eventId(event, spot.place) })}><p class="timeline-head"><strong>${title}</strong> ${note} <span class="timeline-at">${spot.failures}${at}</span></p>${body && html`<div class="timeline-body">${body}</div>`}</li>\n`;
}

/** An instant of the session: the time of day alone where it began on that day. */
export function timeWithin({ call, session: { startedAt } }: Visit, at: number | null): Html {
  const dayOf = (instant: number | null) => (isInstant(instant) ? dayNumber(instant) : null);
  return (dayOf(at) === dayOf(startedAt) ? clockTime : time)(at, call.core.clock.now());
}

function draw(call: Member, event: Listed, place: number, left: Budget): Drawn {
  if (event.kind === "commit") return { kind: "good", title: html`Commit <code>${shaText(event.sha)}</code>` };
  if (event.kind === "label") {
    const { name, value, comment } = event.label;
    const says = value === null ? "" : `: ${short(String(value), 120)}`;
    return {
      kind: "warn",
      title: `Label ${short(name ?? "unnamed", 120)}${says}`,
      body: comment && short(comment, 500),
    };
  }
  const span = sessionSpans.whole(call.core, event.span);
  if (isTool(span)) return drawTool(span, place, left);
  return isModelCall(span) ? drawAnswer(span, place, left) : drawOther(span, place, left);
}

export const isTool = ({ operation, kind, attributes }: Span) =>
  operation === "execute_tool" || kind?.toLowerCase() === "tool" || typeof attributes["gen_ai.tool.name"] === "string";

const isModelCall = ({ operation, kind, usage, attributes }: Span) =>
  typeof attributes.output === "string" ||
  usage !== null ||
  /^(?:chat|text_completion|generate_content)$/.test(operation ?? "") ||
  /^(?:llm|generation|model)$/i.test(kind ?? "");

/** What a step is called: a tool by its own name. */
export function stepName({ attributes, name }: Span): string {
  const tool = attributes["gen_ai.tool.name"];
  return typeof tool === "string" ? tool : (name ?? "").replace(/^execute_tool /, "");
}

function drawAnswer(span: Span, place: number, left: Budget): Drawn {
  const { usage, model, failure } = span;
  const text = answerText(span.output);
  const used = usage && [`${compact(usage.context)} in`, usage.output !== null && `${compact(usage.output)} out`];
  const facts = [model && short(model, 60), used?.filter(Boolean).join(", "), lasted(span)].filter(Boolean);
  return {
    kind: failure ? "bad" : "info",
    title: text === "" ? html`<span class="muted">Model call</span>` : "Answer",
    note: html`${failureBadge(span)} <span class="muted">${facts.join(" · ")}</span>`,
    body: [errorText(span, place, left), text !== "" && answered(text, `Answer ${place}`, left)].filter(Boolean),
  };
}

function drawTool(span: Span, place: number, left: Budget): Drawn {
  const { attributes, edits, failure } = span;
  const changed = changesOf(span);
  const input = readToolInput(span.input ?? attributes);
  const said = span.input === undefined ? { ...input, rest: "" } : input;
  // Of a change's input only the file's name and what stands beside the edit are shown: the change itself is drawn below.
  const shown = changed ? { command: null, path: said.path, rest: changed.rest } : said;
  return {
    kind: failure ? "bad" : "neutral",
    title: short(stepName(span) || "Unnamed tool", 80),
    note: html`${!changed && inputLine(shown, edits)} ${failureBadge(span)} <span class="muted">${lasted(span)}</span>`,
    body: [
      // A drawn change names its file itself; the facts of a single edit stand beside it.
      edits.length > 0 && !(changed && edits.length === 1) && editList(edits),
      changed && drawChanges(changed.changes, editNote(edits), `Change ${place}`, left),
      inputBody(shown, edits, place, left),
      errorText(span, place, left),
      toolText(textOf(span.output), "Output", `Output ${place}`, left, failure !== null),
    ].filter(Boolean),
  };
}

/** What was said of a failure beside the output. */
function errorText({ failure, output }: Span, place: number, left: Budget): Content {
  const message = failure?.message ?? null;
  if (message === null || textOf(output).includes(message)) return false;
  return toolText(message, "Error", `Error ${place}`, left, true);
}

/** What a step was given or gave back, as text. */
export const textOf = (value: unknown): string =>
  typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value);

/** What a tool was told, as far as it fits on its line. */
function inputLine({ command, path, rest }: ToolInput, edits: Span["edits"]): Content {
  // The edits below name the file as its repository does.
  if (command === null && edits.length > 0) return false;
  const text = command ?? path ?? wordsOf(rest);
  return text !== "" && html`<code>${short(firstLine(text), MAX_LINE)}</code>`;
}

/** Parameters as `name: value` where all are short, else their JSON. */
function wordsOf(rest: string): string {
  const value = rest.startsWith("{") ? parseJson(rest) : undefined;
  if (!isObject(value) || rest.length > MAX_LINE) return rest;
  const said = Object.entries(value).map(([name, one]) => (typeof one === "object" ? undefined : `${name}: ${one}`));
  return said.includes(undefined) ? rest : said.join(", ");
}

const firstLine = (text: string) => text.trimStart().split("\n", 1)[0] ?? "";

/** What a step was to do, in one line, for readers who have not come to it yet. */
export function attemptOf({ input, attributes }: Span): string {
  const { command, path, rest } = readToolInput(input ?? attributes);
  return short(firstLine(command ?? path ?? (input === undefined ? "" : wordsOf(rest))), 120);
}

/** The part of a tool's input that did not fit on its line. */
function inputBody({ command, path, rest }: ToolInput, edits: Span["edits"], place: number, left: Budget): Content {
  const isOnLine = (text: string) => text.length <= MAX_LINE && !text.includes("\n");
  const parts = [
    command !== null && !isOnLine(command) && toolText(command, "Command", `Command ${place}`, left),
    // A short rest has the line to itself where there is nothing else.
    rest !== "" &&
      ((command ?? path) !== null || edits.length > 0 || !isOnLine(rest)) &&
      toolText(wordsOf(rest), "Input", `Input ${place}`, left),
  ];
  return parts.some(Boolean) && parts;
}

function editList(edits: Span["edits"]): Html {
  const named = edits.slice(0, MAX_EDITS_NAMED);
  return html`<p>${named.map((edit, i) => html`${i > 0 && html`<br>`}Edited <code>${short(edit.path, MAX_PATH)}</code> <span class="muted">${linesOf(edit)}</span>${edit.commit !== null && html` <span class="muted">in commit</span> <code>${shaText(edit.commit)}</code>`}`)}${edits.length > named.length && html`<br><span class="muted">and ${plural(edits.length - named.length, "more edit")}</span>`}</p>`;
}

/** Which lines a step edited, and the commit that holds them, where it is one edit. */
function editNote([edit, ...more]: Span["edits"]): Content {
  if (!edit || more.length > 0) return false;
  return html` <span class="muted">${linesOf(edit)}${edit.commit !== null && html` in commit <code>${shaText(edit.commit)}</code>`}</span>`;
}

function linesOf({ startLine, endLine }: Span["edits"][number]): string {
  if (startLine === null) return "";
  if (endLine !== null && endLine < startLine) return `lines removed at ${number(startLine)}`;
  return endLine === null || endLine === startLine
    ? `line ${number(startLine)}`
    : `lines ${number(startLine)}–${number(endLine)}`;
}

function drawOther(span: Span, place: number, left: Budget): Drawn {
  const { name, kind, edits, failure, input, output } = span;
  if (kind === "event" && name === "rewind")
    return {
      kind: "warn",
      title: "Rewound",
      note: html`<span class="muted">to an earlier point; what follows replaces it</span>`,
    };
  return {
    kind: failure ? "bad" : "neutral",
    title: short(name || "Step", 120),
    note: html`${kind && html`<span class="muted">${short(kind, 24)}</span>`} ${failureBadge(span)} <span class="muted">${lasted(span)}</span>`,
    body: [
      edits.length > 0 && editList(edits),
      toolText(textOf(input), "Input", `Input ${place}`, left),
      errorText(span, place, left),
      toolText(textOf(output), "Output", `Output ${place}`, left, failure !== null),
    ].filter(Boolean),
  };
}

/** How a step went wrong; false where it did not say so. */
export const failureBadge = ({ failure }: Span): Html | false =>
  failure !== null && badge("bad", short(failure.label, 40));

const lasted = ({ startedAt, endedAt }: Span): string | false =>
  isInstant(startedAt) && isInstant(endedAt) && endedAt > startedAt && duration(endedAt - startedAt);
