import { type Content, type Html, html } from "../../../../kit/html.ts";
import { type Page, page } from "../../../../platform/http/page.ts";
import {
  listSessions,
  type SessionFacets,
  type SessionPage,
  type SessionRow,
  sessionFacets,
} from "../../../../record/traces/traces.ts";
import { buttonLink } from "../../ui/button.ts";
import { empty } from "../../ui/empty.ts";
import { type Filter, filters } from "../../ui/filters.ts";
import { pageHead } from "../../ui/page-head.ts";
import { pager } from "../../ui/pager.ts";
import { table } from "../../ui/table.ts";
import { isInstant, time, utcText } from "../../ui/time.ts";
import { duration, number, plural } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import { link, type Member, NO_REPO, repoName } from "../shared/links.ts";
import { outcomeBadge, short } from "./labels.ts";
import { sessionPage, sessionRecord } from "./one.ts";

/** The team's agent sessions. */

const PAGE = 50;
const MAX_TITLE = 110;
const MAX_NAME = 60;
const MAX_WORD = 28;
const MAX_VALUE = 1_000;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Filters as the query spells them; `""` is not set. */
const NAMES = ["q", "repo", "agent", "model", "outcome", "branch", "device", "from", "to"] as const;
type Chosen = Readonly<Record<(typeof NAMES)[number], string>>;

function setIn({ query }: Member): Chosen {
  const pairs = NAMES.map((name) => [name, (query.get(name) ?? "").slice(0, MAX_VALUE)] as const);
  const set = Object.fromEntries(pairs) as Chosen;
  return { ...set, from: dayIn(set.from) === undefined ? "" : set.from, to: dayIn(set.to) === undefined ? "" : set.to };
}

/** The start of a day (UTC), milliseconds since the epoch; undefined for anything that is no day. */
function dayIn(text: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
  const at = Date.parse(`${text}T00:00:00Z`);
  return Number.isNaN(at) ? undefined : at;
}

async function sessionsPage(call: Member): Promise<Html> {
  const { core, session, query } = call;
  const team = session.team.id;
  const set = setIn(call);
  const to = dayIn(set.to);
  const text = (value: string) => (value === "" ? undefined : value);
  const found = await listSessions(core, team, {
    repoKey: set.repo === NO_REPO ? "" : text(set.repo),
    deviceId: text(set.device),
    outcome: text(set.outcome),
    agent: text(set.agent),
    model: text(set.model),
    branch: text(set.branch),
    from: dayIn(set.from),
    to: to === undefined ? undefined : to + DAY_MS,
    text: text(set.q.trim()),
    cursor: query.get("cursor") ?? "",
    limit: PAGE,
  });
  const facets = sessionFacets(core, team);
  const head = pageHead({
    title: "Sessions",
    says: "What agents did: each session with its prompts, steps, commits and the files it touched.",
  });
  const filtered = NAMES.some((name) => set[name] !== "");
  if (found.rows.length === 0 && !filtered && !query.has("cursor"))
    return frame(call, { title: "Sessions", main: html`${head}${noSessions(call)}` });
  const main = html`${head}
${filters({ action: call.href("/sessions"), label: "Filter sessions", live: "#results", filters: filtersOf(set, facets) })}
<div id="results" data-count="${found.rows.length}">${sessionTable(call, found.rows)}
${around(call, set, found)}</div>`;
  return frame(call, { title: "Sessions", main, wide: true });
}

function filtersOf(set: Chosen, facets: SessionFacets): Filter[] {
  const select = (
    name: keyof Chosen,
    label: string,
    all: string,
    values: readonly { value: string; label: string }[],
  ): Filter => {
    // A value from an old link stays to be seen and taken back.
    const known = set[name] === "" || values.some(({ value }) => value === set[name]);
    const options = [{ value: "", label: all }, ...values, ...(known ? [] : [{ value: set[name], label: set[name] }])];
    return { kind: "select", name, label, value: set[name], options };
  };
  const plain = (values: readonly string[]) => values.map((value) => ({ value, label: value }));
  return [
    { kind: "search", name: "q", label: "Text", value: set.q, placeholder: "Words of a prompt, a file, a commit" },
    select(
      "repo",
      "Repository",
      "all",
      facets.repoKeys.map((key) => ({ value: key === "" ? NO_REPO : key, label: repoName(key) })),
    ),
    select("agent", "Agent", "all", plain(facets.agents)),
    select("model", "Model", "all", plain(facets.models)),
    select("outcome", "Outcome", "all", plain(facets.outcomes)),
    select("branch", "Branch", "all", plain(facets.branches)),
    select(
      "device",
      "Device",
      "all",
      facets.devices.map(({ id, label }) => ({ value: id, label: label ?? id })),
    ),
    { kind: "date", name: "from", label: "From (UTC)", value: set.from },
    { kind: "date", name: "to", label: "To (UTC)", value: set.to },
  ];
}

function sessionTable(call: Member, rows: readonly SessionRow[]): Html {
  const now = call.core.clock.now();
  return table({
    caption: "Sessions",
    columns: [
      {
        label: "Session",
        heading: true,
        grow: true,
        cell: (
          session,
        ) => html`<a href="${call.href(`/sessions/${session.id}`)}">${short(session.firstPrompt ?? session.externalId, MAX_TITLE)}</a>
<br><small class="muted">${short(repoName(session.repoKey), MAX_NAME)}${session.branch && ` · ${short(session.branch, MAX_NAME)}`}</small>`,
      },
      { label: "Outcome", cell: (session) => outcomeBadge(session.outcome) },
      {
        label: "Agent",
        cell: (session) =>
          html`<span class="nowrap">${short(session.agent ?? "–", MAX_WORD)}</span>${session.model && html`<br><small class="muted nowrap">${short(session.model, MAX_WORD)}</small>`}`,
      },
      { label: "Started", cell: (session) => html`${time(session.startedAt, now, "not said")}${lasted(session)}` },
      { label: "Holds", cell: holds },
    ],
    rows,
    empty: empty({ title: "No session fits", says: "Take a filter back, or widen the dates." }),
  });
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
function around(call: Member, set: Chosen, { older, newer, examined, examinedTo }: SessionPage): Html {
  const kept = Object.fromEntries(Object.entries(set).map(([name, value]) => [name, value === "" ? undefined : value]));
  const to = (cursor: string | undefined) => cursor && link(call, "/sessions", { ...kept, cursor });
  const says =
    examinedTo !== undefined &&
    `Looked through ${number(examined)} sessions${examinedTo === null || !isInstant(examinedTo) ? "" : `, back to ${utcText(examinedTo)}`}. Go on to look further.`;
  return pager({
    older: to(older),
    newer: to(newer),
    says,
    ...(examinedTo === undefined ? {} : { labels: { newer: "Newer", older: "Look further" } }),
  });
}

function noSessions(call: Member): Html {
  return empty({
    title: "No sessions yet",
    says: "A connected agent sends each session when it ends, and again as it grows. With a device token, a first one can be sent by hand:",
    code: `curl ${call.baseUrl.replace(/\/$/, "")}/api/agent-traces/ingest \\
  -H "authorization: Bearer $DEVICE_TOKEN" \\
  -H "content-type: application/json" \\
  -d '{"repoKey": "acme/shop", "sessions": [
        {"id": "s1", "outcome": "success", "spans": [],
         "prompts": [{"text": "Fix the login"}]}]}'`,
    actions: buttonLink("Connect a device", call.href("/devices")),
  });
}

export const sessionPages: Page[] = [
  page({ id: "sessions", method: "GET", path: "/sessions", access: "member" }, sessionsPage),
  page({ id: "session", method: "GET", path: "/sessions/:id", access: "member" }, sessionPage),
  page({ id: "sessionRecord", method: "GET", path: "/sessions/:id/record", access: "member" }, sessionRecord),
];
