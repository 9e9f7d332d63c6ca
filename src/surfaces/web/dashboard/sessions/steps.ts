import { readToolInput, type ToolInput } from "../../../../formats/tool-input.ts";
import { attributes, type Content, type Html, html } from "../../../../kit/html.ts";
import { type Span, wholeSpan } from "../../../../record/traces/traces.ts";
import { badge, type Kind } from "../../ui/parts.ts";
import { clockTime, compact, duration, isInstant, number, plural } from "../../ui/units.ts";
import type { Member } from "../shared/call.ts";
import { shaText, short } from "../shared/text.ts";
import { type Budget, saidText, toolText } from "./said.ts";
import type { Event } from "./turns.ts";

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

/** Where a step stands in the conversation; the waterfall leads there. */
export const stepId = ({ id }: Pick<Span, "id">): string => `step-${id}`;

/** @param place tells it from every other event of the session, for those who hear the page */
export function drawEvent(call: Member, event: Exclude<Event, { kind: "prompt" }>, place: number, left: Budget): Html {
  const { kind, title, note, body } = draw(call, event, place, left);
  const id = event.kind === "step" ? stepId(event.span) : undefined;
  return html`<li${attributes({ class: kind, id })}><p class="timeline-head"><strong>${title}</strong> ${note} ${clockTime(event.at, call.core.clock.now())}</p>${body && html`<div class="timeline-body stack">${body}</div>`}</li>\n`;
}

function draw(call: Member, event: Exclude<Event, { kind: "prompt" }>, place: number, left: Budget): Drawn {
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
  const span = wholeSpan(call.core, event.span);
  if (isTool(span)) return drawTool(span, place, left);
  return isModelCall(span) ? drawAnswer(span, place, left) : drawOther(span);
}

const isTool = ({ operation, kind, attributes }: Span) =>
  operation === "execute_tool" || kind?.toLowerCase() === "tool" || typeof attributes["gen_ai.tool.name"] === "string";

const isModelCall = ({ operation, kind, usage, attributes }: Span) =>
  typeof attributes.output === "string" ||
  usage !== null ||
  /^(?:chat|text_completion|generate_content)$/.test(operation ?? "") ||
  /^(?:llm|generation|model)$/i.test(kind ?? "");

function drawAnswer(span: Span, place: number, left: Budget): Drawn {
  const { usage, model, attributes } = span;
  const text = typeof attributes.output === "string" ? attributes.output.trim() : "";
  const used = usage && [`${compact(usage.context)} in`, usage.output !== null && `${compact(usage.output)} out`];
  const facts = [model && short(model, 60), used?.filter(Boolean).join(", "), lasted(span)].filter(Boolean);
  return {
    kind: "info",
    title: text === "" ? "Model call" : "Answer",
    note: html`${failure(span)} <span class="muted">${facts.join(" · ")}</span>`,
    body: text !== "" && saidText(text, `Answer ${place}`, left),
  };
}

function drawTool(span: Span, place: number, left: Budget): Drawn {
  const { attributes, name, edits } = span;
  const tool = attributes["gen_ai.tool.name"];
  const called = typeof tool === "string" ? tool : (name ?? "").replace(/^execute_tool /, "");
  const input = readToolInput(attributes["gen_ai.tool.call.arguments"] ?? attributes);
  const said = "gen_ai.tool.call.arguments" in attributes ? input : { ...input, rest: "" };
  const failed = failure(span);
  return {
    kind: failed ? "bad" : "neutral",
    title: short(called || "A tool that is not named", 80),
    note: html`${inputLine(said, edits)} ${failed} <span class="muted">${lasted(span)}</span>`,
    body: [
      inputBody(said, edits, place, left),
      edits.length > 0 && editList(edits),
      toolText(textOf(attributes["gen_ai.tool.call.result"]), "Output", `Output ${place}`, left, failed !== false),
    ].filter(Boolean),
  };
}

const textOf = (value: unknown): string =>
  typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value);

/** What a tool was told, as far as it fits on its line. */
function inputLine({ command, path, rest }: ToolInput, edits: Span["edits"]): Content {
  // The edits below name the file as its repository does.
  if (command === null && edits.length > 0) return false;
  const text = command ?? path ?? rest;
  return text !== "" && html`<code>${short(firstLine(text), MAX_LINE)}</code>`;
}

const firstLine = (text: string) => text.trimStart().split("\n", 1)[0] ?? "";

/** What did not fit there. */
function inputBody({ command, path, rest }: ToolInput, edits: Span["edits"], place: number, left: Budget): Content {
  const isOnLine = (text: string) => text.length <= MAX_LINE && !text.includes("\n");
  const parts = [
    command !== null && !isOnLine(command) && toolText(command, "Command", `Command ${place}`, left),
    // A short rest has the line to itself where there is nothing else.
    rest !== "" &&
      ((command ?? path) !== null || edits.length > 0 || !isOnLine(rest)) &&
      toolText(rest, "Input", `Input ${place}`, left),
  ];
  return parts.some(Boolean) && parts;
}

function editList(edits: Span["edits"]): Html {
  const named = edits.slice(0, MAX_EDITS_NAMED);
  return html`<p>${named.map((edit, i) => html`${i > 0 && html`<br>`}Edited <code>${short(edit.path, MAX_PATH)}</code> <span class="muted">${linesOf(edit)}</span>${edit.commit !== null && html` <span class="muted">in commit</span> <code>${shaText(edit.commit)}</code>`}`)}${edits.length > named.length && html`<br><span class="muted">and ${plural(edits.length - named.length, "more edit")}</span>`}</p>`;
}

function linesOf({ startLine, endLine }: Span["edits"][number]): string {
  if (startLine === null) return "";
  if (endLine !== null && endLine < startLine) return `lines taken out at ${number(startLine)}`;
  return endLine === null || endLine === startLine
    ? `line ${number(startLine)}`
    : `lines ${number(startLine)} to ${number(endLine)}`;
}

function drawOther(span: Span): Drawn {
  const { name, kind, edits } = span;
  if (kind === "event" && name === "rewind")
    return {
      kind: "warn",
      title: "Went back",
      note: html`<span class="muted">to an earlier point; what follows replaces it</span>`,
    };
  const failed = failure(span);
  return {
    kind: failed ? "bad" : "neutral",
    title: short(name || "Step", 120),
    note: html`${kind && html`<span class="muted">${short(kind, 24)}</span>`} ${failed} <span class="muted">${lasted(span)}</span>`,
    body: edits.length > 0 && editList(edits),
  };
}

/** How a step went wrong; false where it did not say so. */
function failure({ attributes }: Span): Html | false {
  const code = attributes["process.exit.code"] ?? attributes.exit_code;
  if (typeof code === "number" && code !== 0) return badge("bad", `exit ${number(code)}`);
  const error = attributes["error.type"];
  if (typeof error !== "string" || error === "") return false;
  return badge("bad", error === "tool_error" ? "failed" : short(error, 40));
}

const lasted = ({ startedAt, endedAt }: Span): string | false =>
  isInstant(startedAt) && isInstant(endedAt) && endedAt > startedAt && duration(endedAt - startedAt);
