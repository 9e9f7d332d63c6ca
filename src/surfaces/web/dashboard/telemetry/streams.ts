import { type Content, type Html, html } from "../../../../kit/html.ts";
import { page } from "../../../../platform/http/page.ts";
import { listStreams, MAX_STREAMS, type Stream } from "../../../../record/telemetry/telemetry.ts";
import { table } from "../../ui/list.ts";
import { anchor, badge, empty, pageHead, tabs } from "../../ui/parts.ts";
import { ago, number, plural } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import type { Member } from "../shared/call.ts";
import { deviceLink, link, repoShort, repoValue, setOf } from "../shared/links.ts";
import { list, pagesFrom } from "../shared/list.ts";
import { readParams, rowNumber } from "../shared/params.ts";
import { seesOwn } from "../shared/sight.ts";
import { filterOf, PARAMS, type StreamParams, streamFilters } from "./filter.ts";

/** Streams of entries, and what gaps and rollbacks in them mean. */

const PAGE = 100;

export const GAP_SAYS =
  "A gap is a run of numbers that never arrived. Something was lost or held back: a queue that was dropped, a crash, or entries that somebody took out. A later batch that brings them closes the gap.";
export const ROLLBACK_SAYS =
  "A rollback is a number that came again with other content. The count began anew (a reinstallation, a restored backup, two machines with one token) or the past was rewritten. What came first stays in place; what came later is kept apart as evidence.";

/** What streams are, and what can be wrong in them. */
export const STREAMS_HELP = html`<p>A stream is what one device sent of one repository. Its entries are numbered one by one, so that what is missing or was sent twice shows.</p><p>${GAP_SAYS}</p><p>${ROLLBACK_SAYS}</p>`;

/** A range of numbers: `7`, or `7 to 9`. */
export const rangeText = ({ from, to }: { readonly from: number; readonly to: number }): string =>
  from === to ? number(from) : `${number(from)} to ${number(to)}`;

/** How many numbers a range spans. */
export const rangeCount = ({ from, to }: { readonly from: number; readonly to: number }): number => to - from + 1;

/** The head of the pages about telemetry, with the ways between them, which keep the device and the repository. */
export function telemetryHead(
  call: Member,
  current: "entries" | "streams" | "conflicts",
  { device, repo }: StreamParams,
  { actions, help }: { readonly actions?: Content; readonly help?: Content } = {},
): Html {
  const kept = { device, repo };
  const tab = (name: typeof current, label: string, path: `/${string}`) => ({
    label,
    href: link(call, path, setOf(kept)),
    current: name === current,
    keeps: Object.keys(kept),
  });
  return html`${pageHead({
    title: "Telemetry",
    intro: `What ${seesOwn(call) ? "your" : "the team's"} agents did, entry by entry, as their devices sent it.`,
    actions,
    help,
  })}
${tabs("Telemetry", [
  tab("entries", "Entries", "/telemetry"),
  tab("streams", "Streams", "/telemetry/streams"),
  tab("conflicts", "Conflicts", "/telemetry/conflicts"),
])}`;
}

function gapCell({ gaps, missing }: Stream): Content {
  if (missing === 0) return html`<span class="none">none</span>`;
  const named = gaps.slice(0, 4).map(rangeText).join(", ");
  return html`${badge("warn", plural(missing, "missing entry", "missing entries"))} <span class="muted">${named}${gaps.length > 4 && " and more"}</span>`;
}

/** Streams as a table. @param of a device's own streams, without the column of the device, or all of the team's */
export function streamTable(call: Member, streams: readonly Stream[], of: "device" | "team", none: Content) {
  const { core, href } = call;
  const now = core.clock.now();
  const query = ({ deviceId, repoKey }: Stream) => new URLSearchParams({ device: deviceId, repo: repoValue(repoKey) });
  return table({
    caption: "Streams",
    columns: [
      {
        label: "Repository",
        heading: true,
        cell: (stream) => anchor(href(`/telemetry?${query(stream)}`), repoShort(stream.repoKey)),
      },
      of === "team" && {
        label: "Device",
        cell: (stream) => deviceLink(call, stream),
      },
      { label: "Entries", numeric: true, cell: (stream) => stream.entryCount },
      { label: "Highest number", numeric: true, cell: (stream) => stream.maxSeq },
      { label: "Gaps", cell: gapCell },
      {
        label: "Rollbacks",
        cell: (stream) =>
          stream.conflictCount === 0
            ? html`<span class="none">none</span>`
            : anchor(
                href(`/telemetry/conflicts?${query(stream)}`),
                badge("bad", plural(stream.conflictCount, "conflict")),
              ),
      },
      { label: "Last entry", cell: (stream) => ago(stream.updatedAt, now) },
    ],
    rows: streams,
    empty: none,
  });
}

/** The streams that whoever looks sees, of a device and a repository where they are named. */
function streamsSeen(call: Member, { deviceId, deviceIds, repoKey }: ReturnType<typeof filterOf>): Stream[] {
  const devices = deviceId === undefined ? deviceIds : (deviceIds ?? [deviceId]).filter((id) => id === deviceId);
  const query = devices ? { deviceIds: devices } : repoKey === undefined ? {} : { repoKeys: [repoKey] };
  const found = listStreams(call.core, call.session.team.id, query);
  return repoKey === undefined ? found : found.filter((stream) => stream.repoKey === repoKey);
}

function streamsPage(call: Member): Html {
  const params = readParams(PARAMS, call.query);
  // Streams have no days: here the name is that of a row.
  const { from: place = 0 } = readParams({ from: rowNumber }, call.query);
  const { device, repo } = params;
  const streams = streamsSeen(call, filterOf(call, params));
  const from = place < streams.length ? place : 0;
  const none =
    device || repo
      ? empty({ title: "No streams here", intro: "No stream matches these filters." })
      : empty({
          title: "No streams yet",
          intro: html`One begins with the first entry of a device. <a href="${call.href("/devices")}">Connect a device</a> to begin.`,
        });
  const streamList = list(call, {
    path: "/telemetry/streams",
    params: { device, repo },
    id: "results",
    label: "Filter streams",
    filters: streamFilters(call, params),
    count: streams.length,
    body: html`${streamTable(call, streams.slice(from, from + PAGE), "team", none)}${streams.length === MAX_STREAMS && html`<p class="says">These are the ${number(MAX_STREAMS)} that grew last. A device's page shows all of its own.</p>`}`,
    pages: pagesFrom(from, streams.length, PAGE, plural(streams.length, "stream")),
  });
  const main = html`${telemetryHead(call, "streams", params, { help: STREAMS_HELP })}
${streamList}`;
  return frame(call, { title: "Streams", main, wide: true });
}

export const streamPages = [
  page({ id: "streams", method: "GET", path: "/telemetry/streams", access: "member", narrows: true }, streamsPage),
];
