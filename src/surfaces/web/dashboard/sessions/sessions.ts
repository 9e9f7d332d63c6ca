import { type Device, listDevices } from "../../../../identity/devices/devices.ts";
import { type Content, type Html, html } from "../../../../kit/html.ts";
import { type Page, page } from "../../../../platform/http/page.ts";
import { listSessions, sessionFacets } from "../../../../record/traces/traces.ts";
import type { Filter, Table } from "../../ui/list.ts";
import { empty, pageHead } from "../../ui/parts.ts";
import { duration, isInstant, number, plural, time, utcText } from "../../ui/units.ts";
import { nothingSent } from "../devices/connect.ts";
import { frame } from "../frame.ts";
import type { Member } from "../shared/call.ts";
import { link, type Query, repoName, repoOptions, setOf } from "../shared/links.ts";
import { listPage, type Pages } from "../shared/list.ts";
import { dayFilters, readParams, selectFilter } from "../shared/params.ts";
import { personFilter, personName } from "../shared/people.ts";
import { proofPage } from "../shared/proof.ts";
import { short } from "../shared/text.ts";
import { filesPage } from "./files.ts";
import { SESSION_PARAMS, type SessionParams, sessionFilterOf } from "./filter.ts";
import { outcomeBadge } from "./labels.ts";
import { transcriptPage } from "./one.ts";
import { recordFile, recordPage } from "./record.ts";
import { waterfallPage } from "./waterfall.ts";

/** The team's agent sessions. */

type SessionPage = Awaited<ReturnType<typeof listSessions>>;
type SessionRow = SessionPage["rows"][number];

const PAGE = 50;
const MAX_TITLE = 110;
const MAX_NAME = 60;
const MAX_WORD = 28;
async function sessionsPage(call: Member): Promise<Html> {
  const { core, session, query } = call;
  const team = session.team.id;
  const params = readParams(SESSION_PARAMS, query);
  const devices = listDevices(core, team);
  const found = await listSessions(core, team, {
    ...sessionFilterOf(params, devices),
    cursor: query.get("cursor") ?? "",
    limit: PAGE,
  });
  const head = {
    title: "Sessions",
    says: "What agents did: each session with its prompts, steps, commits and the files it touched.",
  };
  const filtered = Object.values(params).some((value) => value !== "");
  if (found.rows.length === 0 && !filtered && !query.has("cursor"))
    return frame(call, { title: "Sessions", main: html`${pageHead(head)}${noSessions(call)}` });
  return listPage(call, {
    ...head,
    wide: true,
    path: "/sessions",
    params,
    id: "results",
    label: "Filter sessions",
    filters: [
      ...filtersOf(params, sessionFacets(core, team)),
      ...personFilter(devices, params.person),
      ...dayFilters(params),
    ],
    table: sessionTable(call, found.rows, devices, setOf(params)),
    pages: pagesOf(found),
  });
}

function filtersOf(
  params: SessionParams,
  { repoKeys, agents, models, outcomes, branches, devices }: ReturnType<typeof sessionFacets>,
): Filter[] {
  const select = (name: keyof SessionParams, label: string, values: readonly string[]) =>
    selectFilter(
      { name, label, value: params[name] },
      "all",
      values.map((value) => ({ value, label: value })),
    );
  return [
    { kind: "search", name: "q", label: "Text", value: params.q, placeholder: "Words of a prompt, a file, a commit" },
    selectFilter({ name: "repo", label: "Repository", value: params.repo }, "all", repoOptions(repoKeys)),
    select("agent", "Agent", agents),
    select("model", "Model", models),
    select("outcome", "Outcome", outcomes),
    select("branch", "Branch", branches),
    selectFilter(
      { name: "device", label: "Device", value: params.device },
      "all",
      devices.map(({ id, label }) => ({ value: id, label: label ?? id })),
    ),
  ];
}

function sessionTable(
  call: Member,
  rows: readonly SessionRow[],
  devices: readonly Device[],
  params: Query,
): Table<SessionRow> {
  const now = call.core.clock.now();
  const people = new Map(devices.flatMap(({ id, person }) => (person ? [[id, personName(person)] as const] : [])));
  return {
    caption: "Sessions",
    columns: [
      {
        label: "Session",
        heading: true,
        grow: true,
        cell: (
          session,
        ) => html`<a href="${link(call, `/sessions/${session.id}`, params)}">${short(session.firstPrompt ?? session.externalId, MAX_TITLE)}</a>
<br><small class="muted">${short(repoName(session.repoKey), MAX_NAME)}${session.branch && ` · ${short(session.branch, MAX_NAME)}`}</small>`,
      },
      { label: "Outcome", cell: (session) => outcomeBadge(session.outcome) },
      {
        label: "Agent",
        cell: (session) =>
          html`<span class="nowrap">${short(session.agent ?? "–", MAX_WORD)}</span>${session.model && html`<br><small class="muted nowrap">${short(session.model, MAX_WORD)}</small>`}`,
      },
      people.size > 0 && {
        label: "Person",
        cell: ({ deviceId }) => short(people.get(deviceId) ?? "–", MAX_WORD),
      },
      { label: "Started", cell: (session) => html`${time(session.startedAt, now, "not said")}${lasted(session)}` },
      { label: "Holds", cell: holds },
    ],
    rows,
    empty: empty({ title: "No session fits", intro: "Take a filter back, or widen the dates." }),
  };
}

function lasted({ startedAt, endedAt }: SessionRow): Content {
  const known = isInstant(startedAt) && isInstant(endedAt) && endedAt >= startedAt;
  return known && html`<br><small class="muted">${duration(endedAt - startedAt)}</small>`;
}

/** How much of each a session holds, two to a line; nothing where there is none. */
function holds({ prompts, spans, files, commits, labels }: SessionRow): Content {
  const counts = [
    [prompts, "prompt"],
    [spans, "step"],
    [files, "file"],
    [commits, "commit"],
    [labels, "label"],
  ] as const;
  const parts = counts.flatMap(([count, one]) => (count ? [plural(count, one)] : []));
  if (prompts === null) parts.push("too large to count the rest");
  const pairs = parts.flatMap((part, i) => (i % 2 === 0 ? [[part, parts[i + 1]].filter(Boolean).join(", ")] : []));
  return pairs.map((pair, i) => html`${i > 0 && html`<br>`}<small class="nowrap">${pair}</small>`);
}

/** Links around the page, and how far it looked when that is not plain. */
function pagesOf({ older, newer, examined, examinedTo }: Awaited<ReturnType<typeof listSessions>>): Pages {
  const around = { newer: { cursor: newer }, older: { cursor: older } };
  if (examinedTo === undefined) return around;
  const backTo = isInstant(examinedTo) ? `, back to ${utcText(examinedTo)}` : "";
  return {
    ...around,
    intro: `Looked through ${number(examined)} sessions${backTo}. Go on to look further.`,
    labels: { newer: "Newer", older: "Look further" },
  };
}

function noSessions(call: Member): Html {
  return nothingSent(
    call,
    "No sessions yet",
    "Each session of an agent comes here with its prompts, answers, steps, edits and commits, within seconds of its end.",
  );
}

export const sessionPages: Page[] = [
  page({ id: "sessions", method: "GET", path: "/sessions", access: "member" }, sessionsPage),
  page({ id: "session", method: "GET", path: "/sessions/:id", access: "member" }, transcriptPage),
  page({ id: "sessionWaterfall", method: "GET", path: "/sessions/:id/waterfall", access: "member" }, waterfallPage),
  page({ id: "sessionFiles", method: "GET", path: "/sessions/:id/files", access: "member" }, filesPage),
  page({ id: "sessionRecord", method: "GET", path: "/sessions/:id/record", access: "member" }, recordPage),
  page({ id: "sessionRecordFile", method: "GET", path: "/sessions/:id/record.json", access: "member" }, recordFile),
  page({ id: "sessionProof", method: "GET", path: "/sessions/:id/proof", access: "member" }, (call) =>
    proofPage("session", call),
  ),
];
