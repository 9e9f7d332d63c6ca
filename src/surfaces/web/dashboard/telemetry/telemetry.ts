import { isoInstant } from "../../../../kit/clock.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { readCursor } from "../../../../kit/page.ts";
import { download, type PageCall, page } from "../../../../platform/http/page.ts";
import { type EntryPage, exportEntries, listEntries, listRepoKeys } from "../../../../record/telemetry/telemetry.ts";
import { anchor } from "../../ui/anchor.ts";
import { buttonLink } from "../../ui/button.ts";
import { empty } from "../../ui/empty.ts";
import { pager } from "../../ui/pager.ts";
import { time } from "../../ui/time.ts";
import { number, plural } from "../../ui/units.ts";
import { command, telemetryCommand } from "../devices/connect.ts";
import { frame } from "../frame.ts";
import { exported } from "../shared/exported.ts";
import { conflictPages } from "./conflicts.ts";
import { entryPages } from "./entry.ts";
import { type Asked, filterOf, readAsked, spellAsked } from "./filter.ts";
import { entryFilters, entryTable } from "./list.ts";
import { streamPages, telemetryHead } from "./streams.ts";

/** What devices sent, entry by entry. */

type Member = PageCall<"member">;

async function telemetryPage(call: Member): Promise<Html> {
  const { core, session, query, baseUrl, href } = call;
  if (listRepoKeys(core, session.team.id).length === 0)
    return frame(call, {
      title: "Telemetry",
      wide: true,
      main: html`${telemetryHead(call, "entries")}
<div class="stack">${empty({
        title: "No telemetry yet",
        says: html`Agents send what they do as numbered entries, under the token of a connected device. <a href="${href("/devices")}">Connect a device</a>, then send a first entry:`,
      })}${command(telemetryCommand(baseUrl))}</div>`,
    });
  const asked = readAsked(query);
  const found = await listEntries(core, session.team.id, {
    ...filterOf(asked),
    cursor: query.get("at") ?? undefined,
    limit: 50,
  });
  const main = html`${telemetryHead(call, "entries")}
<div class="stack">${entryFilters(call, asked, "/telemetry")}
<div id="results" data-count="${found.rows.length}">${results(call, asked, found)}</div></div>`;
  return frame(call, { title: "Telemetry", main, wide: true });
}

function results(call: Member, asked: Asked, found: EntryPage): Html {
  const { href } = call;
  const at = (cursor: string | undefined) =>
    cursor === undefined ? undefined : href(`/telemetry${spellAsked(asked, cursor)}`);
  const narrowed = spellAsked(asked) !== "";
  const { rows, newer, older } = found;
  const order = found.order === "seq" ? "by number, highest first" : "newest first";
  const cutShort = found.examinedTo !== undefined;
  return html`${
    rows.length > 0 &&
    html`<div class="actions"><p class="says">${plural(rows.length, "entry", "entries")}, ${order}</p>${buttonLink(narrowed ? "Export all that match" : "Export all", href(`/telemetry/export${spellAsked(asked)}`), { small: true })}</div>
${entryTable(call, rows)}`
  }${
    rows.length === 0 &&
    !cutShort &&
    empty({
      title: "No entries here",
      says: newer === undefined ? "No entry matches these filters." : "There are no older entries that match.",
    })
  }${cutShort && cutShortSays(call, found, { newer: at(newer), older: at(older) })}${pager({
    newer: at(newer),
    older: cutShort ? undefined : at(older),
    first: newer === undefined ? undefined : href(`/telemetry${spellAsked(asked)}`),
    labels: found.order === "seq" ? { newer: "Higher numbers", older: "Lower numbers" } : undefined,
  })}`;
}

/** Says how far a search came that would have read everything, and leads on. */
function cutShortSays(
  { core, query }: Member,
  { rows, examined, examinedTo }: EntryPage,
  at: { readonly newer: string | undefined; readonly older: string | undefined },
): Html {
  const came = readCursor(query.get("at") ?? undefined, 1) ?? readCursor(query.get("at") ?? undefined, 2);
  const [way, on, next] =
    came?.towards === "newer" ? ["up to", "Look further up", at.newer] : ["back to", "Look further back", at.older];
  return html`<div class="flash warn" role="status">Looked through ${plural(examined, "entry", "entries")}, ${way} ${time(examinedTo ?? null, core.clock.now())}, and found ${rows.length === 0 ? "none that matches" : number(rows.length)} so far. ${next !== undefined && anchor(next, on)}</div>`;
}

export const telemetryPages = [
  page({ id: "telemetry", method: "GET", path: "/telemetry", access: "member" }, telemetryPage),
  page({ id: "exportTelemetry", method: "GET", path: "/telemetry/export", access: "member" }, (call) => {
    const { core, session, query } = call;
    const day = isoInstant(core.clock.now()).slice(0, 10);
    const asked = readAsked(query);
    const { device, repo, type, text, flagged, from, to } = asked;
    return exported(
      call,
      {
        action: "telemetry.exported",
        teamId: session.team.id,
        extent: { device, repo, type, text, flagged, firstDay: from, lastDay: to },
      },
      download(
        `telemetry-${day}.jsonl`,
        "application/x-ndjson; charset=utf-8",
        exportEntries(core, session.team.id, filterOf(asked)),
      ),
    );
  }),
  ...streamPages,
  ...conflictPages,
  ...entryPages,
];
