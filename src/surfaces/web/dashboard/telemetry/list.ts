import { nameSession } from "../../../../insight/sessions/sessions.ts";
import { attributes, type Content, type Html, html } from "../../../../kit/html.ts";
import { members } from "../../../../kit/json.ts";
import type { EntryRow } from "../../../../record/telemetry/telemetry.ts";
import type { Filter } from "../../ui/list.ts";
import { anchor, badge, type Kind, none } from "../../ui/parts.ts";
import { ago, number, plural } from "../../ui/units.ts";
import type { Member } from "../shared/call.ts";
import { deviceLink, deviceName, repoLink, repoName, repoNames, repoValue } from "../shared/links.ts";
import { dayFilters } from "../shared/params.ts";
import { seesDevice } from "../shared/sight.ts";
import { short } from "../shared/text.ts";
import { type EntryParams, streamFilters } from "./filter.ts";
import { payloadDetails } from "./payload.ts";
import { rangeCount, rangeText } from "./streams.ts";

/** Entries as a table with marks between them, and their filters. */

/** The filters of entries. */
export const entryFilters = (call: Member, params: EntryParams): Filter[] => [
  { kind: "search", name: "q", label: "Text", value: params.q, placeholder: "Anywhere in a payload" },
  ...streamFilters(call, params),
  { kind: "text", name: "type", label: "Type", value: params.type, placeholder: "prompt, tool, edit…" },
  { kind: "text", name: "session", label: "Session", value: params.session, placeholder: "Its id at the agent" },
  ...dayFilters(params),
  { kind: "checkbox", name: "flagged", label: "Contradicted only", value: params.flagged },
];

/** Where an entry stands by itself. */
export const entryPath = (id: number): string => `/telemetry/entries/${id}`;

const COLUMNS = ["Entry", "Content", "Device", "Repository", "Session", "Received"] as const;
const TYPE_CHARS = 40;
const NAME_CHARS = 48;

/** Entries, newest first. Its rows are laid out as ui/list.ts does it; marks span all columns. */
export function entryTable(call: Member, entries: readonly EntryRow[]): Html {
  const label = "Telemetry entries";
  const named = repoNames(entries.map(({ repoKey }) => repoKey));
  return html`<div class="table-frame" role="region" aria-label="${label}" tabindex="0" data-scroll><table role="table" class="cards dense entries">
<caption class="vh">${label}</caption>
<thead role="rowgroup"><tr role="row">${COLUMNS.map((column) => html`<th role="columnheader" scope="col"${attributes({ class: column === "Received" ? "numeric" : undefined })}>${column}</th>`)}</tr></thead>
<tbody role="rowgroup">${entries.map((entry) => [entryRow(call, entry, named(entry.repoKey)), marks(call, entry)])}</tbody></table></div>`;
}

function entryRow(call: Member, entry: EntryRow, repo: Content): Html {
  const { core, href } = call;
  const now = core.clock.now();
  const own = href(entryPath(entry.id));
  const type = entry.type?.slice(0, TYPE_CHARS).toWellFormed();
  return html`<tr role="row"><th role="rowheader" scope="row" data-label="Entry"><a href="${own}">${number(entry.seq)}</a>${type && html` <span class="tag">${type}</span>`}${levelMark(entry.payload)}</th>
<td role="cell" class="grow" data-label="Content">${payloadDetails(entry.payload, own)}</td>
<td role="cell" data-label="Device">${deviceLink(call, entry)}</td>
<td role="cell" data-label="Repository">${repoLink(call, entry.repoKey, repo)}</td>
<td role="cell" data-label="Session">${sessionLink(call, entry)}</td>
<td role="cell" class="numeric" data-label="Received">${ago(entry.receivedAt, now)}</td></tr>`;
}

const LEVELS: Readonly<Record<string, Kind>> = {
  error: "bad",
  fatal: "bad",
  critical: "bad",
  warn: "warn",
  warning: "warn",
};

/** How grave an entry says it is, where it is worth a look. */
function levelMark(payload: string): Content {
  const [level] = members(payload, 0, ["level", "severity", "severityText"]);
  if (level === undefined || payload[level.start] !== '"') return "";
  const word = payload.slice(level.start + 1, Math.min(level.end - 1, level.start + 12)).toLowerCase();
  return Object.hasOwn(LEVELS, word) && html` ${badge(LEVELS[word] as Kind, word)}`;
}

/** The session that an entry names, by its title where it is known. */
export function sessionLink(call: Member, entry: Pick<EntryRow, "deviceId" | "sessionId">): Content {
  if (entry.sessionId === null) return none;
  const { id, title = null } =
    nameSession(call.core, entry.deviceId, entry.sessionId, (other) => seesDevice(call, other)) ?? {};
  const text = short(title ?? entry.sessionId, NAME_CHARS);
  return id === undefined ? html`<code>${text}</code>` : anchor(call.href(`/sessions/${id}`), text);
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
      html`${badge("bad", "Rollback")} Entry ${number(seq)} came in a batch that also sent older numbers anew. <a href="${href(`/telemetry/conflicts?${new URLSearchParams({ device: entry.deviceId, repo: repoValue(entry.repoKey) })}`)}">What it contradicts</a>`,
    )
  }${
    gap &&
    mark(
      html`${badge("warn", "Gap")} ${plural(rangeCount(gap), "entry", "entries")} never arrived ${where}: number${gap.from !== gap.to && "s"} ${rangeText(gap)}.`,
    )
  }`;
}
