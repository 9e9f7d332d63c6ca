import { type Html, html } from "../../../../kit/html.ts";
import { layOutJson } from "../../../../kit/json-indent.ts";
import { download, type PageReply } from "../../../../platform/http/page.ts";
import type { Session } from "../../../../record/traces/traces.ts";
import { buttonLink } from "../../ui/button.ts";
import { badge, codeBlock, facts, section } from "../../ui/parts.ts";
import { bytes, plural, time } from "../../ui/units.ts";
import type { Member } from "../shared/call.ts";
import { exported } from "../shared/exported.ts";
import { repoValue } from "../shared/links.ts";
import { sessionPage, type Visit, visitOf } from "./visit.ts";

/** A session as its agent sent it. */

const MAX_SHOWN = 128 * 1024;

export async function recordPage(call: Member): Promise<Html> {
  const visit = await visitOf(call);
  const { session } = visit;
  const { document } = session;
  const whole = document.length <= MAX_SHOWN;
  return sessionPage(
    visit,
    "/record",
    html`${section({ title: "Received", framed: true, body: receivedFacts(visit) })}
${section({
  title: "Document",
  help: "The session as the agent sent it, without its steps: the download has those, the waterfall shows each.",
  actions: downloads(visit),
  // A document that was cut is no JSON any more, and is shown as it is.
  body: html`${codeBlock(whole ? layOutJson(document) : document.slice(0, MAX_SHOWN), { label: "Record of the session", wrap: true })}
${!whole && html`<p class="says">The first ${bytes(MAX_SHOWN)} of ${bytes(Buffer.byteLength(document))}. Download the record to read it all.</p>`}`,
})}`,
  );
}

/** What can be taken away. */
export const downloads = ({ call, session }: Visit): Html =>
  html`${buttonLink(download_("Record"), call.href(`/sessions/${session.id}/record.json`), { small: true })}${buttonLink(download_("Proof"), call.href(`/sessions/${session.id}/proof`), { small: true })}`;

const download_ = (what: string) => html`<span aria-hidden="true">↓</span><span class="vh">Download</span> ${what}`;

function receivedFacts({ call, session }: Visit): Html {
  const now = call.core.clock.now();
  const { deliveries, externalId, startedAt, endedAt, createdAt, updatedAt, document, spanCount } = session;
  const redacted = deliveries.reduce((sum, one) => sum + one.redacted, 0);
  return facts([
    { label: "Session ID", value: html`<span class="copied" data-copy><code>${externalId}</code></span>` },
    { label: "Started", value: time(startedAt, now, "not told") },
    { label: "Ended", value: time(endedAt, now, "not told") },
    { label: "First received", value: time(createdAt, now) },
    {
      label: "Last received",
      value: html`${time(updatedAt, now)}${deliveries.length > 1 && html` <span class="muted">latest state in ${plural(deliveries.length, "delivery", "deliveries")}</span>`}`,
    },
    { label: "Contents", value: `${bytes(Buffer.byteLength(document))}, ${plural(spanCount, "step")}` },
    {
      label: "Redacted",
      value:
        redacted > 0 &&
        html`${badge("warn", plural(redacted, "place"))} <span class="muted">replaced before they were stored</span>`,
    },
  ]);
}

/** The session, its steps and labels as they were sent, spliced from the stored text. */
export async function recordFile(call: Member): Promise<PageReply> {
  const { session } = await visitOf(call);
  return exported(
    call,
    {
      action: "agent_session.exported",
      teamId: call.session.team.id,
      target: { kind: "agent_session", id: String(session.id), label: session.externalId },
      extent: { repo: repoValue(session.repoKey), steps: String(session.spanCount) },
    },
    download(`session-${session.id}.json`, "application/json; charset=utf-8", partsOf(session)),
  );
}

function partsOf({ document, spans, spanCount, labels }: Session): string[] {
  const documents = spans.map(({ document }) => document).filter((document) => document !== null);
  return [
    `{"session":${document}`,
    `,"spanCount":${spanCount},"spans":[${documents.join(",\n")}]`,
    `,"labels":[${labels.map(({ document }) => document).join(",\n")}]}\n`,
  ];
}
