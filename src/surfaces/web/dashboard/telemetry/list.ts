import { listDevices } from "../../../../identity/devices/devices.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { type EntryRow, listRepoKeys } from "../../../../record/telemetry/telemetry.ts";
import type { Filter } from "../../ui/list.ts";
import { badge } from "../../ui/parts.ts";
import { number, plural, time } from "../../ui/units.ts";
import type { Member } from "../shared/call.ts";
import { deviceLink, deviceName, repoName } from "../shared/links.ts";
import { dayFilters, selectFilter } from "../shared/params.ts";
import { type EntryParams, NO_REPO, repoValue } from "./filter.ts";
import { payloadDetails } from "./payload.ts";
import { rangeCount, rangeText } from "./streams.ts";

/** Entries as a table with marks between them, and their filters. */

/** The filters that tell streams apart. */
export function streamFilters({ core, session }: Member, { device, repo }: EntryParams): Filter[] {
  const devices = listDevices(core, session.team.id).map(({ id, label }) => ({ value: id, label: label ?? id }));
  const repos = listRepoKeys(core, session.team.id).map((key) => ({ value: repoValue(key), label: repoName(key) }));
  return [
    selectFilter({ name: "device", label: "Device", value: device }, "All devices", devices),
    selectFilter({ name: "repo", label: "Repository", value: repo }, "All repositories", repos),
  ];
}

/** The filters of entries. */
export const entryFilters = (call: Member, params: EntryParams): Filter[] => [
  { kind: "search", name: "q", label: "Text", value: params.q, placeholder: "Anywhere in a payload" },
  ...streamFilters(call, params),
  { kind: "text", name: "type", label: "Type", value: params.type, placeholder: "prompt, tool, edit…" },
  ...dayFilters(params),
  { kind: "checkbox", name: "flagged", label: "Contradicted only", value: params.flagged },
];

/** Where an entry stands by itself. */
export const entryPath = (id: number): string => `/telemetry/entries/${id}`;

const COLUMNS = ["Entry", "Received", "Payload"] as const;
const TYPE_CHARS = 40;

/** Entries, newest first. Its rows are laid out as parts/table.ts does it; marks span all columns. */
export function entryTable(call: Member, entries: readonly EntryRow[]): Html {
  const label = "Telemetry entries";
  return html`<div class="table-frame" role="region" aria-label="${label}" tabindex="0" data-scroll><table role="table" class="cards">
<caption class="vh">${label}</caption>
<thead role="rowgroup"><tr role="row">${COLUMNS.map((column) => html`<th role="columnheader" scope="col">${column}</th>`)}</tr></thead>
<tbody role="rowgroup">${entries.map((entry) => [entryRow(call, entry), marks(call, entry)])}</tbody></table></div>`;
}

function entryRow(call: Member, entry: EntryRow): Html {
  const { core, href } = call;
  const now = core.clock.now();
  const own = href(entryPath(entry.id));
  return html`<tr role="row"><th role="rowheader" scope="row" data-label="Entry"><a href="${own}">${number(entry.seq)}</a>${entry.type !== null && html` <span class="muted">${entry.type.slice(0, TYPE_CHARS).toWellFormed()}</span>`}</th>
<td role="cell" data-label="Received">${deviceLink(call, entry)}<br><span class="muted">${repoName(entry.repoKey)}</span><br><span class="muted">${time(entry.receivedAt, now)}</span></td>
<td role="cell" data-label="Payload">${payloadDetails(entry.payload, own)}</td></tr>`;
}

/** What is said between an entry and the one below it. */
function marks({ href }: Member, entry: EntryRow): Html {
  const { missingBefore: gap, seq, conflict, deliveryFlag, id } = entry;
  const where = `in ${repoName(entry.repoKey)} on ${deviceName(entry)}`;
  const mark = (intro: Html) =>
    html`<tr role="row" class="mark"><td role="cell" colspan="${COLUMNS.length}">${intro}</td></tr>`;
  return html`${
    conflict &&
    mark(
      html`${badge("bad", "Rollback")} Number ${number(seq)} came again with other content. The first is shown; the other is kept apart. <a href="${href(entryPath(id))}">Compare them</a>`,
    )
  }${
    !conflict &&
    deliveryFlag === "rollback" &&
    mark(
      html`${badge("bad", "Rollback")} Entry ${number(seq)} came in a batch that also sent older numbers anew. <a href="${href(`/telemetry/conflicts?${new URLSearchParams({ device: entry.deviceId, repo: entry.repoKey || NO_REPO })}`)}">What it contradicts</a>`,
    )
  }${
    gap &&
    mark(
      html`${badge("warn", "Gap")} ${plural(rangeCount(gap), "entry", "entries")} never arrived ${where}: number${gap.from !== gap.to && "s"} ${rangeText(gap)}.`,
    )
  }`;
}
