import { isoDate } from "../../../../kit/clock.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { readCursor } from "../../../../kit/page.ts";
import { cooperative } from "../../../../kit/yield.ts";
import { download, page } from "../../../../platform/http/page.ts";
import { countEntries, type EntryPage, exportEntries, listEntries } from "../../../../record/telemetry/telemetry.ts";
import { buttonLink } from "../../ui/button.ts";
import { anchor, choices, empty } from "../../ui/parts.ts";
import { number, plural, time } from "../../ui/units.ts";
import { nothingSent } from "../devices/connect.ts";
import { frame } from "../frame.ts";
import type { Member } from "../shared/call.ts";
import { exported } from "../shared/exported.ts";
import { link, type Query, setOf } from "../shared/links.ts";
import { list } from "../shared/list.ts";
import { readParams } from "../shared/params.ts";
import { viewMenu, viewTabs } from "../shared/views.ts";
import { conflictPages } from "./conflicts.ts";
import { entryPages } from "./entry.ts";
import { type EntryParams, filterOf, PARAMS, repoKeysSeen } from "./filter.ts";
import { entryFilters, entryTable } from "./list.ts";
import { streamPages, telemetryHead } from "./streams.ts";

/** What devices sent, entry by entry. */

async function telemetryPage(call: Member): Promise<Html> {
  const { core, session, query } = call;
  const params = readParams(PARAMS, query);
  if (repoKeysSeen(call).length === 0)
    return frame(call, {
      title: "Telemetry",
      wide: true,
      main: html`${telemetryHead(call, "entries", params)}
${nothingSent(call, "No telemetry yet", "What agents do comes here as numbered entries, so that none can be missing unseen.")}`,
    });
  const found = await listEntries(core, session.team.id, {
    ...filterOf(call, params),
    cursor: query.get("at") ?? undefined,
    limit: 50,
  });
  const { newer, older } = found;
  const cutShort = found.examinedTo !== undefined;
  const yieldNow = cooperative(core.clock);
  const filters = entryFilters(call, params);
  await yieldNow();
  const entries = list(call, {
    path: "/telemetry",
    params,
    id: "results",
    label: "Filter entries",
    filters,
    folded: true,
    count: found.rows.length,
    body: results(call, params, found),
    pages: {
      newer: { at: newer },
      older: { at: cutShort ? undefined : older },
      first: newer !== undefined,
      labels: found.order === "seq" ? { newer: "Higher numbers", older: "Lower numbers" } : undefined,
    },
  });
  const saved = viewTabs(call, "/telemetry");
  const all = { label: "All", href: call.href("/telemetry"), current: Object.keys(setOf(params)).length === 0 };
  const main = html`${telemetryHead(call, "entries", params, { actions: viewMenu(call, "/telemetry") })}
<div class="stack">${saved.length > 0 && html`<div class="actions">${choices("Views", [all, ...saved])}</div>`}${entries}</div>`;
  return frame(call, { title: "Telemetry", main, wide: true });
}

/** `The newest 50 of 527 entries`. How many match what is within them is not counted. */
function whichSays(call: Member, params: EntryParams, { rows, newer, older, order }: EntryPage): string {
  const { device: _, repo: __, ...within } = setOf(params);
  const isWithin = Object.keys(within).length > 0;
  const [first, last, sorted] = order === "seq" ? ["highest", "lowest", ", by number"] : ["newest", "oldest", ""];
  if (!newer && !older)
    return `${plural(rows.length, "entry", "entries")}${isWithin ? " that match" : ""}${sorted}, ${first} first`;
  const end = !newer ? `The ${first} ` : !older ? `The ${last} ` : "";
  const shown = `${end}${number(rows.length)} ${isWithin ? "entries that match" : `of ${plural(countEntries(call.core, call.session.team.id, filterOf(call, params)), "entry", "entries")}`}`;
  return `${shown}${sorted}${end === "" ? `, ${first} first` : ""}`;
}

function results(call: Member, params: EntryParams, found: EntryPage): Html {
  const query = setOf(params);
  const { rows, newer, examinedTo } = found;
  return html`${
    rows.length > 0 &&
    html`<div class="actions"><p class="says">${whichSays(call, params, found)}</p>${buttonLink(Object.keys(query).length > 0 ? "Export all that match" : "Export all", link(call, "/telemetry/export", query), { small: true })}</div>
${entryTable(call, rows)}`
  }${
    rows.length === 0 &&
    examinedTo === undefined &&
    empty({
      title: "No entries here",
      intro: newer === undefined ? "No entry matches these filters." : "There are no older entries that match.",
    })
  }${examinedTo !== undefined && cutShortSays(call, query, found)}`;
}

/** Says how far a search came before it was stopped, because it would have read everything, and leads on. */
function cutShortSays(call: Member, params: Query, { rows, examined, examinedTo, newer, older }: EntryPage): Html {
  const at = call.query.get("at") ?? undefined;
  const came = readCursor(at, 1) ?? readCursor(at, 2);
  const [way, on, next] =
    came?.towards === "newer" ? ["up to", "Look further up", newer] : ["back to", "Look further back", older];
  return html`<div class="flash warn" role="status">Looked through ${plural(examined, "entry", "entries")}, ${way} ${time(examinedTo ?? null, call.core.clock.now())}, and found ${rows.length === 0 ? "none that matches" : number(rows.length)} so far. ${next !== undefined && anchor(link(call, "/telemetry", { ...params, at: next }), on)}</div>`;
}

export const telemetryPages = [
  page({ id: "telemetry", method: "GET", path: "/telemetry", access: "member", narrows: true }, telemetryPage),
  page({ id: "exportTelemetry", method: "GET", path: "/telemetry/export", access: "member", narrows: true }, (call) => {
    const { core, session, query } = call;
    const day = isoDate(core.clock.now());
    const params = readParams(PARAMS, query);
    const { q: text, from: firstDay, to: lastDay, ...rest } = params;
    return exported(
      call,
      {
        action: "telemetry.exported",
        teamId: session.team.id,
        extent: { ...rest, text, firstDay, lastDay },
      },
      download(
        `telemetry-${day}.jsonl`,
        "application/x-ndjson; charset=utf-8",
        exportEntries(core, session.team.id, filterOf(call, params)),
      ),
    );
  }),
  ...streamPages,
  ...conflictPages,
  ...entryPages,
];
