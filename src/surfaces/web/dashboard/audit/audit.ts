import { findTeam } from "../../../../identity/accounts/accounts.ts";
import { DAY_MS, isoInstant } from "../../../../kit/clock.ts";
import { html } from "../../../../kit/html.ts";
import { fail, forbidden } from "../../../../kit/problem.ts";
import { type EventFormat, exportEvents, listEvents, type StoredEvent } from "../../../../platform/audit/audit.ts";
import { download, type PageCall, page } from "../../../../platform/http/page.ts";
import { buttonLink } from "../../ui/button.ts";
import { empty } from "../../ui/empty.ts";
import { filters } from "../../ui/filters.ts";
import { pageHead } from "../../ui/page-head.ts";
import { pager } from "../../ui/pager.ts";
import { table } from "../../ui/table.ts";
import { tabs } from "../../ui/tabs.ts";
import { time } from "../../ui/time.ts";
import { frame } from "../frame.ts";
import { exported } from "../shared/exported.ts";
import { actionOptions, detailWords, isAction, whatWasDone } from "./labels.ts";

/** Who did what, when and from where: of the team, or for operators of the whole installation. */

type Person = PageCall<"person">;

const PAGE = 50;

/** What a request asks for. What cannot be understood counts as not asked. */
interface Asked {
  readonly all: boolean;
  readonly text: string;
  readonly action: string;
  /** Days, `2026-11-21`; both inclusive. */
  readonly from: string;
  readonly to: string;
}

const day = (text: string | null) =>
  text !== null && /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(`${text}T00:00:00Z`)) ? text : "";

function readAsked({ query, session }: Person): Asked {
  // Not "action": a field of that name would hide the form's own from scripts.
  const action = query.get("what") ?? "";
  return {
    // An operator in no team has nothing else to see.
    all: query.get("all") === "1" || (session.operator && session.team === null),
    text: (query.get("q") ?? "").slice(0, 200),
    action: isAction(action) ? action : "",
    from: day(query.get("from")),
    to: day(query.get("to")),
  };
}

/** Whose events are shown. @returns the team's id, or null for everybody's @throws Problem 403 */
function scopeOf({ session }: Person, { all }: Asked): string | null {
  if (all) {
    if (session.operator) return null;
    fail(forbidden, "Only who runs this installation can see the audit of all teams.");
  }
  if (!session.team) fail(forbidden, "You are in no team yet. Ask an owner or admin of a team for an invitation.");
  if (session.team.role === "member")
    fail(
      forbidden,
      "The audit tells who did what and from which address, so only the team's owners and admins see it. What your own tokens read stands under My Brain.",
    );
  return session.team.id;
}

const filterOf = (call: Person, asked: Asked) => ({
  teamId: scopeOf(call, asked),
  text: asked.text,
  action: asked.action,
  from: asked.from ? Date.parse(`${asked.from}T00:00:00Z`) : undefined,
  to: asked.to ? Date.parse(`${asked.to}T00:00:00Z`) + DAY_MS : undefined,
});

/** The address of these pages with what is asked, and more. */
function address({ href }: Person, asked: Asked, more: Record<string, string> = {}, path = "/audit"): string {
  const { all, text, action, from, to } = asked;
  const given = { ...(all ? { all: "1" } : {}), q: text, what: action, from, to, ...more };
  const query = new URLSearchParams(Object.entries(given).filter(([, value]) => value !== ""));
  return href(query.size > 0 ? `${path}?${query}` : path);
}

/** An event's id from a link; nonsense asks for the first page. */
function cursor(text: string | null): number | undefined {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

async function auditPage(call: Person) {
  const { core, session, query } = call;
  const asked = readAsked(call);
  const filter = filterOf(call, asked);
  const before = cursor(query.get("before"));
  const after = before === undefined ? cursor(query.get("after")) : undefined;
  const found = await listEvents(core, filter, PAGE, { before, after });
  const narrowed = Boolean(asked.text || asked.action || asked.from || asked.to);
  const plain = { ...asked, text: "", action: "", from: "", to: "" };
  const exportLink = (format: EventFormat, label: string) =>
    buttonLink(label, address(call, asked, { format }, "/audit/export"), { small: true });
  const main = html`${pageHead({
    title: "Audit",
    says: asked.all
      ? "Who did what on this installation, whatever the team."
      : `Who did what in ${session.team?.name}, when and from where.`,
    actions: [exportLink("jsonl", "Export JSONL"), exportLink("csv", "Export CSV")],
  })}
${
  session.operator &&
  session.team &&
  tabs("Whose events", [
    { label: session.team.name, href: address(call, { ...asked, all: false }), current: !asked.all },
    { label: "Whole installation", href: address(call, { ...asked, all: true }), current: asked.all },
  ])
}
${filters({
  action: call.href("/audit"),
  label: "Filter events",
  clear: address(call, plain),
  hidden: asked.all ? { all: "1" } : {},
  live: "#events",
  filters: [
    { kind: "search", name: "q", label: "Person, thing or address", value: asked.text },
    {
      kind: "select",
      name: "what",
      label: "What",
      value: asked.action,
      options: [{ value: "", label: "Everything" }, ...actionOptions(asked.all)],
    },
    { kind: "date", name: "from", label: "From (UTC)", value: asked.from },
    { kind: "date", name: "to", label: "To (UTC)", value: asked.to },
  ],
})}
<div id="events" data-count="${found.rows.length}">${eventTable(call, found.rows, { all: asked.all, narrowed })}
${pager({
  ...(found.newer === undefined
    ? {}
    : { first: address(call, asked), newer: address(call, asked, { after: String(found.newer) }) }),
  ...(found.older === undefined ? {} : { older: address(call, asked, { before: String(found.older) }) }),
})}</div>`;
  return frame(call, { title: "Audit", main, wide: true });
}

const KINDS: Readonly<Record<StoredEvent["actorKind"], string | null>> = {
  user: null,
  device: "device",
  command: "on the server",
  system: "as configured",
};

/** @param all shows whose team each event concerns */
function eventTable(
  { core }: Person,
  events: readonly StoredEvent[],
  { all, narrowed }: { readonly all: boolean; readonly narrowed: boolean },
) {
  const now = core.clock.now();
  const names = new Map<string, string>();
  const teamName = (id: string | null) => {
    if (id === null) return "–";
    if (!names.has(id)) names.set(id, findTeam(core, id)?.name ?? id);
    return names.get(id);
  };
  return table({
    caption: "Events",
    columns: [
      { label: "When" },
      { label: "Who", heading: true },
      { label: "What", grow: true },
      ...(all ? [{ label: "Team" }] : []),
      { label: "From" },
    ],
    rows: events.map((event) => {
      const kind = KINDS[event.actorKind];
      const detail = detailWords(event);
      return [
        time(event.at, now),
        html`${event.actorLabel}${kind && html`<br><small>${kind}</small>`}`,
        html`${whatWasDone(event)}${detail && html`<br><small>${detail}</small>`}`,
        ...(all ? [teamName(event.teamId)] : []),
        event.ip ?? "–",
      ];
    }),
    empty: narrowed
      ? empty({ title: "Nothing like that", says: "No event matches. Widen the days or clear the filters." })
      : empty({ title: "Nothing yet", says: "What people, devices and commands change in the team is recorded here." }),
  });
}

function exportPage(call: Person) {
  const asked = readAsked(call);
  const filter = filterOf(call, asked);
  const format: EventFormat = call.query.get("format") === "csv" ? "csv" : "jsonl";
  const today = isoInstant(call.core.clock.now()).slice(0, 10);
  const media = format === "csv" ? "text/csv; charset=utf-8" : "application/x-ndjson; charset=utf-8";
  const { text, action, from, to } = asked;
  return exported(
    call,
    {
      action: "audit.exported",
      teamId: filter.teamId,
      extent: { format, text, what: action, firstDay: from, lastDay: to },
    },
    download(`reckon-audit-${today}.${format}`, media, exportEvents(call.core, filter, format)),
  );
}

export const auditPages = [
  page({ id: "audit", method: "GET", path: "/audit", access: "person" }, auditPage),
  page({ id: "auditExport", method: "GET", path: "/audit/export", access: "person" }, exportPage),
];
