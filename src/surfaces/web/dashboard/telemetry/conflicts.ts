import { diffLines } from "../../../../kit/diff.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { indentJson } from "../../../../kit/json-indent.ts";
import { page } from "../../../../platform/http/page.ts";
import { listConflicts } from "../../../../record/telemetry/telemetry.ts";
import { diff } from "../../ui/diff.ts";
import { empty, section } from "../../ui/parts.ts";
import { number, time } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import type { Member } from "../shared/call.ts";
import { deviceLink, repoName } from "../shared/links.ts";
import { list } from "../shared/list.ts";
import { readParams } from "../shared/params.ts";
import { filterOf, PARAMS, streamFilters } from "./filter.ts";
import { payloadBlock } from "./payload.ts";
import { ROLLBACK_SAYS, telemetryHead } from "./streams.ts";

/** What rollbacks kept apart: entries that contradict what is stored under their number. */

type ConflictRow = ReturnType<typeof listConflicts>["rows"][number];

const PAGE_SIZE = 20;
/** Longer payloads are shown as they are: comparing takes time with the square of the lines, and a page compares many. */
const MAX_CHARS = 16 * 1024;
const MAX_LINES = 200;

function linesOf(payload: string | null): string | undefined {
  if (payload === null || payload.length > MAX_CHARS) return undefined;
  const text = indentJson(payload, MAX_CHARS * 2);
  return text !== undefined && text.split("\n").length <= MAX_LINES ? text : undefined;
}

/** What a contradicting entry changes, line by line; or what it holds, where the two cannot be compared. */
export function conflictBody({ heldPayload, payload, seq }: ConflictRow): Html {
  const stored = linesOf(heldPayload);
  const received = linesOf(payload);
  const { hunks, tooDifferent } =
    stored === undefined || received === undefined ? { hunks: [], tooDifferent: true } : diffLines(stored, received);
  if (tooDifferent) return payloadBlock(payload, `What came later as ${seq}`);
  return hunks.length === 0
    ? html`<p class="says">The payloads say the same; the client's own time differs.</p>`
    : diff(`entry ${seq}`, hunks);
}

/** The client's own time, as every other; the text itself where it is no instant, as at a leap second. */
export function clientTime(text: string | null, now: number): Html | string | null {
  const at = text === null ? Number.NaN : Date.parse(text);
  return Number.isNaN(at) ? text : time(at, now);
}

/** When each of the two came, in words. */
export function conflictSays(conflict: ConflictRow, now: number): Html {
  return html`The first came ${time(conflict.heldReceivedAt, now)}${conflict.heldClientTimestamp && html` (the client says ${clientTime(conflict.heldClientTimestamp, now)})`} and stays; the other came ${time(conflict.receivedAt, now)}${conflict.clientTimestamp && html` (the client says ${clientTime(conflict.clientTimestamp, now)})`}.`;
}

function conflictsPage(call: Member): Html {
  const { core, session, query } = call;
  const now = core.clock.now();
  const params = readParams(PARAMS, query);
  const { device, repo } = params;
  const { rows, newer, older } = listConflicts(core, session.team.id, {
    deviceId: device || undefined,
    deviceIds: filterOf(call, params).deviceIds,
    repoKey: filterOf(call, params).repoKey,
    cursor: query.get("at") ?? undefined,
    limit: PAGE_SIZE,
  });
  const none =
    rows.length === 0 &&
    empty({
      title: "No conflicts",
      intro:
        device || repo
          ? "No stream that matches these filters was contradicted."
          : "No device has sent a number twice with different content.",
    });
  const conflicts = list(call, {
    path: "/telemetry/conflicts",
    params: { device, repo },
    id: "results",
    label: "Filter conflicts",
    filters: streamFilters(call, params),
    count: rows.length,
    body: html`${rows.map((conflict) =>
      section({
        title: html`Entry ${number(conflict.seq)} of ${repoName(conflict.repoKey)}`,
        intro: html`On ${deviceLink(call, conflict)}. ${conflictSays(conflict, now)}`,
        body: conflictBody(conflict),
      }),
    )}${none}`,
    pages: { newer: { at: newer }, older: { at: older }, first: newer !== undefined },
  });
  const main = html`${telemetryHead(call, "conflicts", params, { help: ROLLBACK_SAYS })}
${conflicts}`;
  return frame(call, { title: "Conflicts", main, wide: true });
}

export const conflictPages = [
  page(
    { id: "conflicts", method: "GET", path: "/telemetry/conflicts", access: "member", narrows: true },
    conflictsPage,
  ),
];
