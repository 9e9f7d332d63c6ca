import { promptTitle } from "../../../../formats/session.ts";
import { findDeviceOf } from "../../../../identity/devices/devices.ts";
import { noteView } from "../../../../insight/session-views/session-views.ts";
import { attributes, type Content, type Html, html } from "../../../../kit/html.ts";
import { fail, notFound } from "../../../../kit/problem.ts";
import {
  getSession,
  runningSessions,
  type Session,
  sessionBeside,
  sessionState,
} from "../../../../record/traces/traces.ts";
import { pageHead, tabs } from "../../ui/parts.ts";
import { isInstant, time } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import type { Member } from "../shared/call.ts";
import { link, type Query, repoName } from "../shared/links.ts";
import { idIn } from "../shared/params.ts";
import { seesDevice } from "../shared/sight.ts";
import { short } from "../shared/text.ts";
import { outcomeBadge } from "./labels.ts";
import { filterOf, keptFilters, sessionParams } from "./params.ts";
import { filesOf } from "./touched.ts";

/** Somebody looks at one session: what all its pages share. */

export interface Visit {
  readonly call: Member;
  readonly session: Session;
  /** Filters of the list that led here. */
  readonly kept: Query;
}

export type Tab = "" | "/waterfall" | "/files" | "/record";

/** The session that an address names. @throws Problem 404 when the team has none of that number */
export async function visitOf(call: Member, spans = true): Promise<Visit> {
  const id = idIn(call.params.id);
  const session = id === undefined ? undefined : await getSession(call.core, call.session.team.id, id, spans);
  if (!session || !seesDevice(call, session.deviceId)) fail(notFound, "This team has no such session.");
  await noteVisit(call, session);
  return { call, session, kept: keptFilters(call) };
}

/** Tells the owner of a session that somebody else opened it. */
async function noteVisit({ core, session: { userId, team }, headOnly }: Member, { id, deviceId }: Session) {
  const personId = findDeviceOf(core, team.id, deviceId)?.personId ?? null;
  if (headOnly || personId === null || personId === userId) return;
  await noteView(core, { teamId: team.id, sessionId: id, deviceId, userId });
}

/** An address among the pages of the session. */
export const addressOf = ({ call, session, kept }: Visit, tab: Tab, query: Query = {}): string =>
  link(call, `/sessions/${session.id}${tab}`, { ...kept, ...query });

const titleOf = ({ prompts, title, externalId }: Session): string =>
  promptTitle(prompts[0]) ?? promptTitle({ text: title }) ?? `Session ${externalId}`;

/** A page of the session: its head, the way to its other pages and to the sessions beside it. */
export async function sessionPage(visit: Visit, tab: Tab, body: Content): Promise<Html> {
  const { call, session } = visit;
  const now = call.core.clock.now();
  const running = runningSessions.runs(call.core, session);
  const { agent, model, repoKey, branch, startedAt, externalId } = session;
  const title = titleOf(session);
  const said = [agent || "Unnamed agent", model, repoName(repoKey), branch]
    .filter((one) => one !== null && one !== "")
    // `bdi` keeps a name that is written in the other direction from turning the text around it.
    .map((one, i) => html`${i > 0 && " · "}<bdi>${short(one as string, 80)}</bdi>`);
  const tab_ = (label: string, of: Tab) => ({ label, href: addressOf(visit, of), current: of === tab });
  const files = filesOf(session).size;
  const main = html`${pageHead({
    title: html`<bdi>${title}</bdi>`,
    intro: html`${outcomeBadge(session.outcome, running)} ${said}${isInstant(startedAt) && html` · ${time(startedAt, now)}`}`,
    crumbs: [{ label: "Sessions", href: link(call, "/sessions", visit.kept) }, { label: short(externalId, 60) }],
    actions: await neighbours(visit, tab),
  })}
${tabs("Parts of the session", [tab_("Transcript", ""), tab_("Waterfall", "/waterfall"), tab_(files > 0 ? `Files (${files})` : "Files", "/files"), tab_("Record", "/record")])}
${body}`;
  return frame(call, {
    title: short(title, 80),
    main: html`<div class="page" id="session"${running && attributes({ "data-live-events": liveAddress(visit) })}>${main}</div>`,
  });
}

function liveAddress({ call, session }: Visit): string {
  const since = sessionState(call.core, call.session.team.id, session.id);
  return link(call, `/sessions/${session.id}/live`, { since });
}

/** The ways to the sessions that started before and after, as far as they fit the filters. */
async function neighbours(visit: Visit, tab: Tab): Promise<Html> {
  const { call, session, kept } = visit;
  const { core } = call;
  const team = call.session.team.id;
  const { result, ...narrowed } = filterOf(call, sessionParams(call.query));
  const filter = { ...narrowed, outcomeKind: result };
  const [older, newer] = [
    await sessionBeside(core, team, filter, session, "older"),
    await sessionBeside(core, team, filter, session, "newer"),
  ];
  const way = (id: number | undefined, words: Content, rel: string, key: string) =>
    id === undefined
      ? html`<span class="button small off" aria-hidden="true">${words}</span>`
      : html`<a class="button small"${attributes({ href: link(call, `/sessions/${id}${tab}`, kept), rel, "data-key": key, "aria-keyshortcuts": key, title: `Key ${key}` })}>${words}</a>`;
  return html`${way(older, "← Previous", "prev", "[")}${way(newer, "Next →", "next", "]")}`;
}
