import { findSession } from "../../../../identity/web-sessions/web-sessions.ts";
import { fail, notFound } from "../../../../kit/problem.ts";
import { cookieNames, readCookies } from "../../../../platform/http/cookies.ts";
import { type Page, type PageReply, page } from "../../../../platform/http/page.ts";
import { follow } from "../../../../platform/live/live.ts";
import { getSession, sessionState } from "../../../../record/traces/traces.ts";
import type { Member } from "../shared/call.ts";
import { idIn } from "../shared/params.ts";
import { seesDevice } from "../shared/sight.ts";

/** What pages follow while they are looked at, see `data-live-events` in the script. */

/** A state, as pages and browsers hand it back. */
const STATE = /^[\w.-]{1,64}$/;

function liveOf(call: Member, state: () => string | undefined): PageReply {
  const { core, session, query, header, baseUrl } = call;
  const token = readCookies(header("cookie")).get(cookieNames(baseUrl).session) ?? "";
  const since = header("last-event-id") ?? query.get("since") ?? "";
  return follow(core, {
    person: session.userId,
    since: STATE.test(since) ? since : undefined,
    // The same sign-in, looking at the same team, and seeing as much of it.
    state: () => {
      const { id, role } = findSession(core, token)?.team ?? {};
      return id === session.team.id && role === session.team.role ? state() : undefined;
    },
  });
}

/** What comes of one session. */
async function sessionLive(call: Member): Promise<PageReply> {
  const { core, session, params } = call;
  const id = idIn(params.id) ?? 0;
  const shown = await getSession(core, session.team.id, id, false);
  if (!shown || !seesDevice(call, shown.deviceId)) fail(notFound, "This team has no such session.");
  return liveOf(call, () => (seesDevice(call, shown.deviceId) ? sessionState(core, session.team.id, id) : undefined));
}

export const livePages: Page[] = [
  page(
    { id: "sessionLive", method: "GET", path: "/sessions/:id/live", access: "member", formless: true, narrows: true },
    sessionLive,
  ),
];
