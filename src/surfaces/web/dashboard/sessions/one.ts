import { promptTitle } from "../../../../formats/session.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { layOutJson } from "../../../../kit/json-indent.ts";
import { fail, notFound } from "../../../../kit/problem.ts";
import { cooperative } from "../../../../kit/yield.ts";
import { download, type PageReply } from "../../../../platform/http/page.ts";
import { findMentions } from "../../../../record/brain/brain.ts";
import { getSession, type Session, type Span } from "../../../../record/traces/traces.ts";
import { buttonLink } from "../../ui/button.ts";
import { codeBlock, pageHead, section, stats } from "../../ui/parts.ts";
import { bytes, compact, plural } from "../../ui/units.ts";
import { type Span as SpanBar, waterfall } from "../../ui/waterfall.ts";
import { frame } from "../frame.ts";
import type { Member } from "../shared/call.ts";
import { exported } from "../shared/exported.ts";
import { repoName } from "../shared/links.ts";
import { idIn } from "../shared/params.ts";
import { short } from "../shared/text.ts";
import { repoValue } from "../telemetry/filter.ts";
import { mentionsSection } from "./brain.ts";
import { causedSection } from "./causes.ts";
import { type Conversation, conversationOf } from "./conversation.ts";
import { factList, figures } from "./facts.ts";
import { outcomeBadge } from "./labels.ts";
import { filesOf, filesSection, labelsSection } from "./tables.ts";

/** One session, whole. */

async function sessionOf(call: Member): Promise<Session> {
  const id = idIn(call.params.id);
  const found = id === undefined ? undefined : await getSession(call.core, call.session.team.id, id);
  if (!found) fail(notFound, "This team has no such session.");
  return found;
}

export async function sessionPage(call: Member): Promise<Html> {
  const session = await sessionOf(call);
  const yieldNow = cooperative(call.core.clock);
  const conversation = conversationOf(call, session);
  await yieldNow();
  const files = filesOf(session);
  const mentions = await findMentions(call.core, call.session.team.id, {
    repoKey: session.repoKey,
    commits: session.commits.map(({ sha }) => sha),
    files: [...files.keys()],
  });
  const steps = waterfall(
    session.spans.map((span) => drawn(span, conversation)),
    call.core.clock.now(),
    session.spanCount,
  );
  await yieldNow();
  const title =
    promptTitle(session.prompts[0]) ?? promptTitle({ text: session.title }) ?? `Session ${session.externalId}`;
  const main = html`${pageHead({
    title,
    intro: html`${outcomeBadge(session.outcome)} ${short(session.agent ?? "An agent that is not named", 80)}${session.model && ` with ${short(session.model, 80)}`} in ${repoName(session.repoKey)}`,
    crumbs: [{ label: "Sessions", href: call.href("/sessions") }, { label: short(session.externalId, 60) }],
    actions: html`${buttonLink("Download record", call.href(`/sessions/${session.id}/record`), { small: true })}${buttonLink("Download proof", call.href(`/sessions/${session.id}/proof`), { small: true })}`,
  })}
${stats(figures(session, files.size, conversation.usage))}
${section({ title: "Facts", framed: true, body: factList(call, session, conversation.usage) })}
${conversation.section}
${await causedSection(call, session)}
${mentionsSection(call, session, mentions)}
${filesSection(call, session, files)}
${labelsSection(session)}
${section({
  id: "steps",
  title: "Steps",
  intro:
    session.spanCount > 0 && "Model calls, tools and edits as the agent traced them, below the step that began them.",
  body: steps,
})}
${recordSection(session)}`;
  return frame(call, { title: short(title, 80), main });
}

function drawn(span: Span, { hrefOf }: Conversation): SpanBar {
  const { externalId, name, usage, edits, attributes } = span;
  const tool = attributes["gen_ai.tool.name"];
  const said = [
    usage && tokenNote(usage.output),
    edits.length > 0 && plural(edits.length, "edit"),
    typeof attributes["error.type"] === "string" && short(attributes["error.type"], 40),
  ].filter((one) => typeof one === "string");
  return {
    ...span,
    id: externalId,
    name: short(name ?? (typeof tool === "string" ? tool : ""), 120),
    kind: span.kind === null ? null : short(span.kind, 24),
    note: said.join(" · "),
    href: hrefOf(span),
  };
}

const tokenNote = (output: number | null) =>
  output !== null && `${compact(output)} ${output === 1 ? "token" : "tokens"}`;

const MAX_RECORD_SHOWN = 128 * 1024;

function recordSection({ document, deliveries }: Session): Html {
  const whole = document.length <= MAX_RECORD_SHOWN;
  return section({
    id: "record",
    title: "Record",
    intro: `The session as the agent sent it, without its steps, ${bytes(Buffer.byteLength(document))}. ${deliveries.some(({ redacted }) => redacted > 0) ? "Secrets were replaced before it was stored." : ""}`,
    // What is cut is no JSON any more, and is shown as it is.
    body: html`<details><summary>Show the record</summary>
${codeBlock(whole ? layOutJson(document) : document.slice(0, MAX_RECORD_SHOWN), { label: "Record of the session", wrap: true, tall: true })}
${!whole && html`<p class="says">Only the beginning is shown. Download the record to read it all.</p>`}</details>`,
  });
}

/** The session, its steps and labels as they were sent, spliced from the stored text. */
export async function sessionRecord(call: Member): Promise<PageReply> {
  const session = await sessionOf(call);
  const documents = session.spans.map(({ document }) => document).filter((document) => document !== null);
  const parts = [
    `{"session":${session.document}`,
    `,"spanCount":${session.spanCount},"spans":[${documents.join(",\n")}]`,
    `,"labels":[${session.labels.map(({ document }) => document).join(",\n")}]}\n`,
  ];
  const { id, externalId, repoKey, spanCount } = session;
  return exported(
    call,
    {
      action: "agent_session.exported",
      teamId: call.session.team.id,
      target: { kind: "agent_session", id: String(id), label: externalId },
      extent: { repo: repoValue(repoKey), steps: String(spanCount) },
    },
    download(`session-${id}.json`, "application/json; charset=utf-8", parts),
  );
}
