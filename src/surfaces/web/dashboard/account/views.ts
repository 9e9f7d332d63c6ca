import { listDevices } from "../../../../identity/devices/devices.ts";
import { viewsOfDevices } from "../../../../insight/session-views/session-views.ts";
import { sessionTitle } from "../../../../insight/sessions/sessions.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { table } from "../../ui/list.ts";
import { anchor, empty, section } from "../../ui/parts.ts";
import { time } from "../../ui/units.ts";
import type { Person } from "../shared/call.ts";
import { short } from "../shared/text.ts";

/** Who opened somebody's sessions, for them to see. */
export function viewsSection({ core, session, href }: Person): Html {
  const now = core.clock.now();
  const teams = new Set(session.teams.map(({ id }) => id));
  const own = listDevices(core, undefined, session.userId).flatMap(({ id, teamId }) => (teams.has(teamId) ? id : []));
  return section({
    title: "Who opened my sessions",
    intro: "Each person once for a session and a day (UTC). Nobody can turn this off.",
    body: table({
      caption: "Who opened my sessions",
      columns: [
        { label: "Person", heading: true, cell: ({ viewer }) => short(viewer, 120) },
        {
          label: "Session",
          grow: true,
          cell: ({ sessionId, teamId }) => {
            const title = short(sessionTitle(core, sessionId) ?? `Session ${sessionId}`, 90);
            return teamId === session.team?.id ? anchor(href(`/sessions/${sessionId}`), title) : html`${title}`;
          },
        },
        { label: "First opened", cell: ({ at }) => time(at, now) },
      ],
      rows: viewsOfDevices(core, own),
      empty: empty({
        title: "Nobody yet",
        intro: "When somebody else opens a session that a device of yours sent, it stands here.",
      }),
    }),
  });
}
