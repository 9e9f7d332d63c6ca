import { findSessions, freshenSessions } from "../../../../insight/sessions/sessions.ts";
import type { Html } from "../../../../kit/html.ts";
import { buttonLink } from "../../ui/button.ts";
import { table } from "../../ui/list.ts";
import { anchor, section } from "../../ui/parts.ts";
import { ago, duration } from "../../ui/units.ts";
import { outcomeBadge } from "../sessions/labels.ts";
import type { Member } from "../shared/call.ts";
import { repoName, sessionsOf } from "../shared/links.ts";
import { short } from "../shared/text.ts";
import { costCell } from "../spend/labels.ts";

const SHOWN = 8;
const MAX_TITLE = 110;
const MAX_REPO = 48;
const MAX_WORD = 24;

/** The sessions that began last. */
export async function latestSessions(call: Member): Promise<Html> {
  const { core, session, href } = call;
  await freshenSessions(core);
  const { rows } = await findSessions(core, session.team.id, { limit: SHOWN });
  const now = core.clock.now();
  return section({
    title: "Latest sessions",
    actions: buttonLink("All sessions", href("/sessions"), { small: true }),
    body: table({
      caption: "Latest sessions",
      dense: true,
      columns: [
        {
          label: "Session",
          heading: true,
          grow: true,
          cell: (one) => anchor(href(`/sessions/${one.id}`), short(one.title ?? one.externalId, MAX_TITLE)),
        },
        { label: "Outcome", cell: ({ outcome }) => outcomeBadge(outcome) },
        {
          label: "Repository",
          cell: ({ repoKey }) => anchor(sessionsOf(call, repoKey), short(repoName(repoKey), MAX_REPO)),
        },
        { label: "Agent", cell: ({ agent, model }) => short(agent ?? model ?? "–", MAX_WORD) },
        {
          label: "Duration",
          numeric: true,
          cell: ({ duration: lasted }) => (lasted === null ? "–" : duration(lasted)),
        },
        { label: "Cost", numeric: true, cell: costCell },
        { label: "Started", cell: ({ id, startedAt }) => anchor(href(`/sessions/${id}`), ago(startedAt, now)) },
      ],
      rows,
    }),
  });
}
