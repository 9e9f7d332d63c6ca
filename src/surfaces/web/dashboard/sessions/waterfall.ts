import { type Content, type Html, html } from "../../../../kit/html.ts";
import { layOutJson } from "../../../../kit/json-indent.ts";
import { type Span, sessionSpans } from "../../../../record/traces/traces.ts";
import { pager } from "../../ui/list.ts";
import { anchor, codeBlock, facts } from "../../ui/parts.ts";
import { placeSpans } from "../../ui/span-tree.ts";
import { compact, duration, isInstant, number, plural, time } from "../../ui/units.ts";
import { type Row, waterfall } from "../../ui/waterfall.ts";
import type { Member } from "../shared/call.ts";
import { idIn } from "../shared/params.ts";
import { short } from "../shared/text.ts";
import { costText } from "../spend/labels.ts";
import { type Places, placesOf } from "./conversation.ts";
import { attemptOf, failureBadge, isTool, stepName, textOf } from "./steps.ts";
import { type Usage, type UsageOfSpans, usageOf } from "./turns.ts";
import { addressOf, sessionPage, type Visit, visitOf } from "./visit.ts";

/** The steps of a session on an axis of time, each under the one that began it; one of them open. */

const PAGE = 250;

export async function waterfallPage(call: Member): Promise<Html> {
  const visit = await visitOf(call);
  const use = call.query.has("step") ? await usageOf(call, visit.session) : undefined;
  return sessionPage(visit, "/waterfall", draw(visit, use));
}

/** @param use where a step is open */
function draw(visit: Visit, use: UsageOfSpans | undefined): Html {
  const { call, session } = visit;
  const { spans, spanCount } = session;
  const opened = idIn(call.query.get("step"));
  const placed = placeSpans(spans.map((span) => ({ ...span, id: span.externalId, span })));
  const first = firstOf(
    visit,
    placed.findIndex(({ span }) => span.span.id === opened),
    placed.length,
  );
  const from = (at: number) => (at === 0 ? undefined : at);
  const rows = placed.slice(first, first + PAGE).map(({ span: { span }, depth }): Row => {
    const isOpen = span.id === opened;
    return {
      ...barOf(span, depth),
      href: addressOf(visit, "/waterfall", { from: from(first), step: isOpen ? undefined : span.id }),
      detail: isOpen && use && detail(visit, span, use),
    };
  });
  const at = (start: number) => `${addressOf(visit, "/waterfall", { from: from(start) })}#steps`;
  return html`<div id="steps" class="stack">${waterfall(rows, spans, call.core.clock.now())}
${pager({
  newer: first > 0 ? at(first - PAGE) : undefined,
  older: first + PAGE < placed.length ? at(first + PAGE) : undefined,
  labels: { newer: "Previous", older: "Next" },
  intro:
    placed.length > PAGE &&
    `${number(first + 1)} to ${number(Math.min(first + PAGE, placed.length))} of ${number(placed.length)}`,
})}${spanCount > spans.length && html`<p class="says">${number(spanCount - spans.length)} more steps are in the record.</p>`}</div>`;
}

/** Where the page begins that is asked for, or else the one with the step that is open. */
function firstOf({ call: { query } }: Visit, opened: number, count: number): number {
  const from = query.get("from") ?? "";
  const at = opened >= 0 ? opened : /^\d{1,7}$/.test(from) ? Number(from) : 0;
  return Math.floor(Math.min(at, Math.max(0, count - 1)) / PAGE) * PAGE;
}

/** Characters that are shown of a step's task, beside its name. */
const MAX_ATTEMPT = 48;

function barOf(span: Span, depth: number): Omit<Row, "href" | "detail"> {
  const { name, usage, edits, failure } = span;
  const attempt = isTool(span) && attemptOf(span);
  const said = [
    usage && usage.output !== null && `${compact(usage.context + usage.output)} tokens`,
    edits.length > 0 && plural(edits.length, "edit"),
  ].filter((one) => typeof one === "string");
  return {
    key: span.id,
    depth,
    name: short(isTool(span) ? stepName(span) : (name ?? ""), 120),
    kind: span.kind === null ? null : short(span.kind, 24),
    startedAt: span.startedAt,
    endedAt: span.endedAt,
    note: html`${attempt && html`<code>${short(attempt, MAX_ATTEMPT)}</code> `}${said.join(" · ")}${failure && html` ${failureBadge(span)}`}`,
    failed: failure !== null,
  };
}

const MAX_TEXT = 96 * 1024;

/** All that is known of a step. */
function detail(visit: Visit, listed: Span, use: UsageOfSpans): Html {
  const { call } = visit;
  const span = sessionSpans.whole(call.core, listed);
  const used = use([listed]);
  const places = placesOf(visit);
  const { failure, attributes } = span;
  const parts = [
    text("Error", failure?.message ?? ""),
    text("Input", laidOut(span.input)),
    text("Output", laidOut(span.output)),
    text("Attributes", otherAttributes(attributes)),
  ];
  return html`${stepFacts(visit, span, used, places)}${parts}${parts.every((part) => !part) && html`<p class="muted">Neither input nor output was recorded.</p>`}`;
}

function stepFacts({ call }: Visit, span: Span, { usd, unpriced, reportedUsd }: Usage, { hrefOf }: Places): Html {
  const now = call.core.clock.now();
  const { startedAt, endedAt, usage, model, externalId } = span;
  const href = hrefOf(span);
  const tokens = usage && [
    ["input", usage.input],
    ["output", usage.output],
    ["cache write", (usage.cacheWrite ?? 0) + (usage.cacheWrite1h ?? 0) || null],
    ["cache read", usage.cacheRead],
  ];
  return facts([
    { label: "Failed", value: failureBadge(span) },
    { label: "Started", value: isInstant(startedAt) && time(startedAt, now) },
    {
      label: "Duration",
      value: isInstant(startedAt) && isInstant(endedAt) && endedAt >= startedAt && duration(endedAt - startedAt),
    },
    { label: "Model", value: model && short(model, 120) },
    {
      label: "Tokens",
      value: tokens
        ?.flatMap(([name, count]) => (count === null ? [] : [`${number(count as number)} ${name}`]))
        .join(" · "),
    },
    { label: "Cost", value: costText({ usd, reportedUsd }) ?? (unpriced > 0 && "unpriced") },
    { label: "Step ID", value: html`<code>${short(externalId, 120)}</code>` },
    { label: "Transcript", value: href !== undefined && anchor(href, "Show in the transcript") },
  ]);
}

function text(label: string, value: string): Content {
  if (value === "") return false;
  const whole = value.length <= MAX_TEXT;
  return html`${codeBlock(whole ? value : value.slice(0, MAX_TEXT).toWellFormed(), { label, titled: true, wrap: true, tall: true })}${!whole && html`<p class="says">The first ${number(MAX_TEXT)} of ${number(value.length)} characters. Download the record to read it all.</p>`}`;
}

/** Text as it is, JSON on lines of its own. */
function laidOut(value: unknown): string {
  const said = textOf(value);
  if (said.length > MAX_TEXT || !/^\s*[[{]/.test(said)) return said;
  try {
    JSON.parse(said);
  } catch {
    return said;
  }
  return layOutJson(said);
}

/** Attributes that are shown above under names of their own. */
const SHOWN =
  /^(?:gen_ai\.tool\.call\.(?:arguments|result)|(?:in|out)put(?:\.value)?|gen_ai\.(?:in|out)put\.messages|gen_ai\.(?:prompt|completion))$/;

function otherAttributes(attributes: Span["attributes"]): string {
  const rest = Object.entries(attributes).filter(([name]) => !SHOWN.test(name));
  return rest.length === 0 ? "" : JSON.stringify(Object.fromEntries(rest), null, 2);
}
