import type { Core } from "../../../../core.ts";
import { findTeam } from "../../../../identity/teams/teams.ts";
import { isoDate } from "../../../../kit/clock.ts";
import { type Content, html } from "../../../../kit/html.ts";
import { fail, forbidden } from "../../../../kit/problem.ts";
import { type EventFormat, exportEvents, listEvents, type StoredEvent } from "../../../../platform/audit/audit.ts";
import { csvDownload, download, page } from "../../../../platform/http/page.ts";
import { buttonLink } from "../../ui/button.ts";
import { typed } from "../../ui/form-spec.ts";
import type { Table } from "../../ui/list.ts";
import { empty, none, tabs } from "../../ui/parts.ts";
import { time } from "../../ui/units.ts";
import { manages, type Person } from "../shared/call.ts";
import { exported } from "../shared/exported.ts";
import { link, type Query, setOf } from "../shared/links.ts";
import { listPage } from "../shared/list.ts";
import { choice, DAYS, dayFilters, readParams, rowNumber, selectFilter, spanOf, text } from "../shared/params.ts";
import { actionOptions, detailWords, isAction, nowCalled, whatWasDone } from "./labels.ts";

/** Who did what, when and from where: of the team, or for operators of the whole installation. */

const PAGE = 50;

// Not "action": a field of that name would hide the form's own from scripts.
const PARAMS = { q: text(200), what: typed, all: choice(["1"]), ...DAYS };

function filtersIn({ core, query, session }: Person) {
  const { q, what, all, ...days } = readParams(PARAMS, query);
  const action = isAction(core, what) ? what : "";
  // An operator who may not see the team's, or is in none, has nothing else to see.
  return { all: all !== undefined || (session.operator && !managesTeam(session)), text: q, action, days };
}

const managesTeam = ({ team }: Person["session"]) => manages(team);

type Filters = ReturnType<typeof filtersIn>;

/** Whose events are shown. @returns the team's id, or null for everybody's @throws Problem 403 */
function scopeOf({ session }: Person, { all }: Filters): string | null {
  if (all) {
    if (session.operator) return null;
    fail(forbidden, "Only who runs this installation can see the audit of all teams.");
  }
  if (!session.team) fail(forbidden, "You are in no team yet. Ask an owner or admin of a team for an invitation.");
  if (!managesTeam(session))
    fail(
      forbidden,
      "The audit tells who did what and from which address, so only the team's owners and admins see it. What your own tokens read stands under Read tokens.",
    );
  return session.team.id;
}

const filterOf = (call: Person, params: Filters) => ({
  teamId: scopeOf(call, params),
  text: params.text,
  action: params.action,
  ...spanOf(params.days),
});

const keptOf = ({ all }: Filters) => ({ all: all ? "1" : undefined });
const queryOf = ({ text, action, days }: Filters) => ({ q: text, what: action, ...days });

async function auditPage(call: Person) {
  const { core, session, query } = call;
  const params = filtersIn(call);
  const { all, text, action, days } = params;
  const { before, after: newest } = readParams({ before: rowNumber, after: rowNumber }, query);
  const after = before === undefined ? newest : undefined;
  const found = await listEvents(core, filterOf(call, params), PAGE, { before, after });
  const to = (path: `/${string}`, more: Query) =>
    link(call, path, { ...keptOf(params), ...setOf(queryOf(params)), ...more });
  const exportLink = (format: EventFormat, label: string) =>
    buttonLink(label, to("/audit/export", { format }), { small: true });
  return listPage(call, {
    title: "Audit",
    intro: all
      ? "Who did what on this installation, whatever the team."
      : `Who did what in ${session.team?.name}, when and from where.`,
    actions: [exportLink("jsonl", "Export JSONL"), exportLink("csv", "Export CSV")],
    wide: true,
    above:
      session.operator &&
      session.team &&
      managesTeam(session) &&
      tabs("Whose events", [
        { label: session.team.name, href: to("/audit", { all: undefined }), current: !all },
        { label: "Whole installation", href: to("/audit", { all: "1" }), current: all },
      ]),
    path: "/audit",
    params: queryOf(params),
    kept: keptOf(params),
    id: "events",
    label: "Filter events",
    filters: [
      { kind: "search", name: "q", label: "Person, thing or address", value: text },
      selectFilter({ name: "what", label: "What", value: action }, "Everything", actionOptions(core, all)),
      ...dayFilters(days),
    ],
    table: eventTable(call, found.rows, all, Boolean(text || action || days.from || days.to)),
    pages: { first: found.newer !== undefined, newer: { after: found.newer }, older: { before: found.older } },
  });
}

const KINDS = {
  device: "device",
  command: "on the server",
  system: "as configured",
} as const;

/** A command with an id was run from elsewhere, with that token. */
function whence(core: Core, { teamId, actorKind, actorId, actorLabel }: StoredEvent) {
  if (actorKind === "user") return nowCalled(core, teamId, actorId, actorLabel);
  return actorKind === "command" && actorId !== null ? "from elsewhere" : KINDS[actorKind];
}

const over = (text: Content, detail: Content) => html`${text}${detail && html`<br><small>${detail}</small>`}`;

/** @param all shows whose team each event concerns */
function eventTable(call: Person, rows: readonly StoredEvent[], all: boolean, narrowed: boolean): Table<StoredEvent> {
  const { core } = call;
  const now = core.clock.now();
  const names = new Map<string, string>();
  const teamName = (id: string | null) =>
    id === null ? "–" : names.getOrInsertComputed(id, () => findTeam(core, id)?.name ?? id);
  return {
    caption: "Events",
    narrow: "compact",
    columns: [
      { label: "When", cell: ({ at }) => time(at, now) },
      { label: "Who", heading: true, cell: (event) => over(event.actorLabel, whence(core, event)) },
      { label: "What", grow: true, cell: (event) => over(whatWasDone(call, event), detailWords(core, event)) },
      all && { label: "Team", cell: ({ teamId }) => teamName(teamId) },
      { label: "From", cell: ({ ip }) => ip ?? none },
    ],
    rows,
    empty: narrowed
      ? empty({ title: "Nothing like that", intro: "No event matches. Widen the days or clear the filters." })
      : empty({
          title: "Nothing yet",
          intro: "What people, devices and commands change in the team is recorded here.",
        }),
  };
}

function exportPage(call: Person) {
  const params = filtersIn(call);
  const filter = filterOf(call, params);
  const format: EventFormat = call.query.get("format") === "csv" ? "csv" : "jsonl";
  const today = isoDate(call.core.clock.now());
  const name = `reckon-audit-${today}.${format}`;
  const events = exportEvents(call.core, filter, format);
  const { text, action, days } = params;
  return exported(
    call,
    {
      action: "audit.exported",
      teamId: filter.teamId,
      extent: { format, text, what: action, firstDay: days.from, lastDay: days.to },
    },
    format === "csv" ? csvDownload(name, events) : download(name, "application/x-ndjson; charset=utf-8", events),
  );
}

export const auditPages = [
  page({ id: "audit", method: "GET", path: "/audit", access: "person", narrows: true }, auditPage),
  page({ id: "auditExport", method: "GET", path: "/audit/export", access: "person", narrows: true }, exportPage),
];
