import { listDevices } from "../../../../identity/devices/devices.ts";
import { listMembers } from "../../../../identity/members/members.ts";
import { freshenEntries, newestWith } from "../../../../insight/defects/defects.ts";
import { findSessions, freshenFinds } from "../../../../insight/find/find.ts";
import { freshenSessions, findSessions as listSessions, sessionFacets } from "../../../../insight/sessions/sessions.ts";
import { searchBrain } from "../../../../record/brain/brain.ts";
import { docIndex } from "../../site/site.ts";
import { titleOf } from "../errors/labels.ts";
import { placesFor } from "../navigation.ts";
import { BRAIN_UNREAD, soonOfBrain } from "../shared/brain.ts";
import { isAdmin, type Member, type Person } from "../shared/call.ts";
import { link, repoName, repoPage } from "../shared/links.ts";
import { personName } from "../shared/people.ts";
import { reposTold } from "../shared/repositories.ts";
import { deviceIdsSeen, seesOwn } from "../shared/sight.ts";
import { short } from "../shared/text.ts";

/** Where search looks: each answers with its first few hits. */

export interface Hit {
  readonly title: string;
  /** Where it is, in a few words; `""` where the title says all. */
  readonly context: string;
  readonly href: string;
}

export interface Found {
  /** What the hits are, e.g. `Sessions`. */
  readonly label: string;
  readonly hits: readonly Hit[];
  /** Where the same is looked for with filters. */
  readonly more?: string;
}

/** Hits of one source. */
const MOST = 5;
const MAX_TEXT = 90;

const holds = (text: string, ...values: readonly (string | null | undefined)[]): boolean =>
  values.some((value) => value?.toLowerCase().includes(text));

/** Pages below those of the sidebar that are looked for by names of their own. */
const BELOW = [
  { label: "Budgets", group: "Spend", path: "/spend/budgets" },
  { label: "Streams", group: "Telemetry", path: "/telemetry/streams" },
  { label: "Conflicts", group: "Telemetry", path: "/telemetry/conflicts" },
  { label: "Connect many machines", group: "Devices", path: "/devices/fleet" },
  { label: "OpenTelemetry", group: "Devices", path: "/devices/opentelemetry" },
] as const;

/** What everybody finds: pages that they may open, and documents. */
export function findPages(call: Person, text: string): Found[] {
  const { href, session, opens } = call;
  const all = [
    ...placesFor(call, session).map(({ label, group, path }) => ({ label, group, path })),
    ...BELOW.filter(({ path }) => session.team !== null && opens("GET", path)),
    { label: "Your account", group: "You", path: "/account" },
    { label: "Second factor", group: "You", path: "/account/second-factor" },
  ];
  const pages = all.filter(({ label, path }) => holds(text, label, path));
  const docs = docIndex().filter(({ title, summary, path }) => holds(text, title, summary, path));
  return [
    {
      label: "Pages",
      hits: pages.slice(0, MOST).map(({ label, group, path }) => ({ title: label, context: group, href: href(path) })),
    },
    {
      label: "Documentation",
      hits: docs
        .toSorted((a, b) => Number(holds(text, b.title)) - Number(holds(text, a.title)))
        .slice(0, MOST)
        .map(({ title, summary, path }) => ({ title, context: short(summary, MAX_TEXT), href: href(path) })),
    },
  ];
}

async function teamSessions({ core, session }: Member, text: string) {
  await freshenFinds(core);
  return findSessions(core, session.team.id, text, MOST);
}

/** For who sees some devices alone. The table that `findSessions` reads does not know devices, so the list of sessions is asked. */
async function ownSessions(call: Member, text: string) {
  const { core, session } = call;
  await freshenSessions(core);
  const filter = { deviceIds: deviceIdsSeen(call), text, limit: MOST };
  const { rows } = await listSessions(core, session.team.id, filter);
  return rows.map(({ id, title, externalId, repoKey, branch }) => ({
    id,
    title: title ?? externalId,
    repoKey,
    branch,
  }));
}

export async function sessionHits(call: Member, text: string): Promise<Found> {
  const { href } = call;
  const hits = seesOwn(call) ? await ownSessions(call, text) : await teamSessions(call, text);
  return {
    label: "Sessions",
    hits: hits.map(({ id, title, repoKey, branch }) => ({
      title: short(title, MAX_TEXT),
      context: [repoName(repoKey), branch]
        .filter(Boolean)
        .map((part) => short(part, MAX_TEXT))
        .join(" · "),
      href: href(`/sessions/${id}`),
    })),
    more: link(call, "/sessions", { q: text }),
  };
}

export async function errorHits(call: Member, text: string): Promise<Found> {
  const { core, session, href } = call;
  await freshenEntries(core);
  const rows = await newestWith(core, session.team.id, text, MOST);
  return {
    label: "Errors",
    hits: rows.map((entry) => ({
      title: short(titleOf(entry), MAX_TEXT),
      context: `${short(repoName(entry.repoKey), MAX_TEXT)} · ${entry.date}${entry.open ? " · open" : ""}`,
      href: href(`/errors/${entry.id}`),
    })),
    more: `${link(call, "/errors", { q: text })}#entries`,
  };
}

export async function brainHits(call: Member, text: string): Promise<Found> {
  const { core, session } = call;
  const found = await soonOfBrain(searchBrain(core, session.team.id, text, { limit: MOST }));
  const more = link(call, "/brain", { q: text });
  if (!found) return { label: "Brain", hits: [{ title: "Search the brain", context: BRAIN_UNREAD, href: more }] };
  return {
    label: "Brain",
    hits: found.hits.map(({ repoKey, filePath, heading, line }) => ({
      title: short(heading || filePath, MAX_TEXT),
      context: `${short(repoName(repoKey ?? ""), MAX_TEXT)} · ${short(filePath, MAX_TEXT)}`,
      href: `${link(call, "/brain/file", { repo: repoKey ?? "", path: filePath, line })}#L${line}`,
    })),
    more,
  };
}

export function repositoryHits(call: Member, text: string): Found {
  const { core, session } = call;
  const team = session.team.id;
  const keys = new Set([...reposTold(core, team), ...sessionFacets(core, team).repoKeys]);
  const found = [...keys].filter((key) => key !== "" && holds(text, key)).sort();
  return {
    label: "Repositories",
    hits: found.slice(0, MOST).map((key) => ({ title: short(key, MAX_TEXT), context: "", href: repoPage(call, key) })),
  };
}

export function deviceHits(call: Member, text: string): Found {
  const { core, session, href } = call;
  const found = listDevices(core, session.team.id).filter(
    ({ id, label, person, personId }) =>
      (isAdmin(call) || personId === session.userId) && holds(text, id, label, person?.email, person?.name),
  );
  return {
    label: "Devices",
    hits: found.slice(0, MOST).map(({ id, label, person }) => ({
      title: short(label ?? id, MAX_TEXT),
      context: person ? short(personName(person), MAX_TEXT) : "",
      href: href(`/devices/${id}`),
    })),
    more: link(call, "/devices", { q: text }),
  };
}

export async function peopleHits(call: Member, text: string): Promise<Found> {
  const { core, session, href } = call;
  const members = await listMembers(core, session.team.id, text);
  return {
    label: "People",
    hits: members.slice(0, MOST).map(({ userId, name, email }) => ({
      title: short(name ?? email, MAX_TEXT),
      context: name === null ? "" : short(email, MAX_TEXT),
      href: isAdmin(call) ? href(`/people/${userId}`) : link(call, "/people", { q: email }),
    })),
    more: link(call, "/people", { q: text }),
  };
}
