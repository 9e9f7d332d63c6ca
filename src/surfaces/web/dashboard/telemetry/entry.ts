import { type Html, html } from "../../../../kit/html.ts";
import { fail, notFound } from "../../../../kit/problem.ts";
import { page } from "../../../../platform/http/page.ts";
import { findEntry } from "../../../../record/telemetry/telemetry.ts";
import { buttonLink } from "../../ui/button.ts";
import { anchor, badge, facts, pageHead, section } from "../../ui/parts.ts";
import { bytes, number, plural, time } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import type { Member } from "../shared/call.ts";
import { deviceLink, deviceName, repoName, repoValue } from "../shared/links.ts";
import { idIn } from "../shared/params.ts";
import { proofPage } from "../shared/proof.ts";
import { seesDevice } from "../shared/sight.ts";
import { clientTime, conflictBody, conflictSays } from "./conflicts.ts";
import { entryPath, sessionLink } from "./list.ts";
import { payloadBlock } from "./payload.ts";
import { GAP_SAYS, ROLLBACK_SAYS, rangeCount, rangeText } from "./streams.ts";

/** One entry: whole, with its neighbours and what contradicts it. */

function entryPage(call: Member): Html {
  const { core, session, params, href } = call;
  const id = idIn(params.id);
  const entry = id === undefined ? undefined : findEntry(core, session.team.id, id);
  if (!entry || !seesDevice(call, entry.deviceId)) fail(notFound, "The team has no such entry.");
  const now = core.clock.now();
  const { previousId, nextId, missingBefore: gap, conflicts } = entry;
  const title = `Entry ${number(entry.seq)}`;
  const main = html`${pageHead({
    title,
    intro: `Of ${repoName(entry.repoKey)} on ${deviceName(entry)}.`,
    crumbs: [{ label: "Telemetry", href: href("/telemetry") }, { label: title }],
    actions: html`${buttonLink("Download proof", href(`${entryPath(entry.id)}/proof`), { small: true })}${previousId !== null && buttonLink("← Previous", href(entryPath(previousId)))}${nextId !== null && buttonLink("Next →", href(entryPath(nextId)))}`,
  })}
${section({ title: "Facts", framed: true, body: entryFacts(call, entry) })}
${section({ title: "Payload", intro: "As it was sent, but for secrets, which are taken out before anything is stored.", body: payloadBlock(entry.payload) })}
${
  gap &&
  section({
    title: `${plural(rangeCount(gap), "entry", "entries")} before it never arrived`,
    intro: `Number${gap.from === gap.to ? "" : "s"} ${rangeText(gap)}. ${GAP_SAYS}`,
    body: "",
  })
}
${
  conflicts.length > 0 &&
  section({
    title: "What else came under this number",
    intro: ROLLBACK_SAYS,
    body: conflicts.map(
      (conflict) => html`<p class="says">${conflictSays(conflict, now)}</p>${conflictBody(conflict)}`,
    ),
  })
}`;
  return frame(call, { title, main });
}

function entryFacts(call: Member, entry: NonNullable<ReturnType<typeof findEntry>>): Html {
  const { core, href } = call;
  const now = core.clock.now();
  const stream = new URLSearchParams({ device: entry.deviceId, repo: repoValue(entry.repoKey) });
  return facts([
    { label: "Number in its stream", value: number(entry.seq) },
    { label: "Type", value: entry.type },
    { label: "Received", value: time(entry.receivedAt, now) },
    { label: "Time by the client", value: clientTime(entry.clientTimestamp, now) },
    {
      label: "Device",
      value: deviceLink(call, entry),
    },
    { label: "Repository", value: anchor(href(`/telemetry?${stream}`), repoName(entry.repoKey)) },
    { label: "Session", value: entry.sessionId !== null && sessionLink(call, entry) },
    { label: "Payload", value: bytes(Buffer.byteLength(entry.payload)) },
    {
      label: "Its batch",
      value:
        entry.deliveryFlag === "gap"
          ? badge("warn", "left a gap")
          : entry.deliveryFlag === "rollback" && badge("bad", "contradicted earlier entries"),
    },
  ]);
}

export const entryPages = [
  page({ id: "entry", method: "GET", path: "/telemetry/entries/:id", access: "member", narrows: true }, entryPage),
  page(
    { id: "entryProof", method: "GET", path: "/telemetry/entries/:id/proof", access: "member", narrows: true },
    (call) => {
      const entry = findEntry(call.core, call.session.team.id, idIn(call.params.id) ?? -1);
      return proofPage("entry", call, { deviceId: entry?.deviceId });
    },
  ),
];
