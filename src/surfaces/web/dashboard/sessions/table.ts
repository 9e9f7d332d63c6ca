import type { Device } from "../../../../identity/devices/devices.ts";
import { peopleBySource } from "../../../../identity/ownership/ownership.ts";
import type { SessionItem, SortBy } from "../../../../insight/sessions/sessions.ts";
import { attributes, type Content, html } from "../../../../kit/html.ts";
import { runningSessions } from "../../../../record/traces/traces.ts";
import type { Sort, Table } from "../../ui/list.ts";
import { empty, none } from "../../ui/parts.ts";
import { ago, briefDuration, compact, number, plural } from "../../ui/units.ts";
import type { Member } from "../shared/call.ts";
import { link, type Query, repoLink, repoNames, setOf } from "../shared/links.ts";
import { personName } from "../shared/people.ts";
import { short } from "../shared/text.ts";
import { costCell } from "../spend/labels.ts";
import { outcomeMark } from "./labels.ts";

/** Sessions as rows of one line. */

const MAX_TITLE = 110;
const MAX_NAME = 60;
const MAX_WORD = 28;

interface Shown {
  readonly devices: readonly Device[];
  /** None where rows cannot be put in another order. */
  readonly sort?: (by: SortBy) => Sort;
  /** What the list is narrowed by, for the way back to it. */
  readonly params?: Query;
  /** Without the column of repositories, because all are of one. */
  readonly withoutRepo?: boolean;
}

export function sessionTable(
  call: Member,
  rows: readonly SessionItem[],
  { devices, sort, params = {}, withoutRepo = false }: Shown,
): Table<SessionItem> {
  const now = call.core.clock.now();
  const ids = new Set(rows.map(({ deviceId }) => deviceId));
  const personOf = peopleBySource(
    call.core,
    call.session.team.id,
    devices.filter(({ id }) => ids.has(id)),
  );
  const running = runningSessions.among(
    call.core,
    rows.map(({ id }) => id),
  );
  const named = repoNames(rows.map(({ repoKey }) => repoKey));
  const hasPeople = devices.some(({ person }) => person) || rows.some(({ userEmail }) => userEmail !== "");
  return {
    caption: "Sessions",
    dense: true,
    columns: [
      {
        label: "Session",
        heading: true,
        grow: true,
        cell: (session) => title(call, session, running.has(session.id), params),
      },
      {
        label: withoutRepo ? "Branch" : "Repository",
        cell: ({ repoKey, branch }) =>
          withoutRepo
            ? short(branch, MAX_NAME) || none
            : html`${repoLink(call, repoKey, named(repoKey))}${beside(short(branch, MAX_NAME))}`,
      },
      hasPeople && {
        label: "Person",
        cell: ({ deviceId, userEmail }) => {
          const person = personOf(userEmail || deviceId);
          return short(person ? personName(person) : "", MAX_WORD) || none;
        },
      },
      {
        label: "Agent",
        cell: ({ agent, model }) => html`${short(agent, MAX_WORD) || none}${beside(short(model, MAX_WORD))}`,
      },
      {
        label: "Duration",
        numeric: true,
        sort: sort?.("duration"),
        cell: (session) => (session.duration === null ? none : briefDuration(session.duration)),
      },
      {
        label: "Tokens",
        numeric: true,
        minor: true,
        named: true,
        sort: sort?.("tokens"),
        cell: ({ tokens }) => (tokens > 0 ? compact(tokens) : none),
      },
      { label: "Cost", numeric: true, sort: sort?.("cost"), cell: costCell },
      { label: "Errors", numeric: true, named: true, sort: sort?.("errors"), cell: errors },
      {
        label: "Started",
        numeric: true,
        sort: sort?.("started"),
        cell: ({ startedAt }) => ago(startedAt, now, "not said"),
      },
    ],
    rows,
    empty: empty({ title: "No session fits", intro: "Take a filter back, or widen the dates." }),
  };
}

/** What stands below a name in a table, and behind it on a phone. */
function beside(text: string): Content {
  return text && html`<span class="muted beside"><span class="between"> · </span>${text}</span>`;
}

function title(call: Member, session: SessionItem, running: boolean, params: Query): Content {
  const text = session.title ?? session.externalId;
  return html`<span class="lead">${outcomeMark(session.outcome, running)}<a${attributes({ href: link(call, `/sessions/${session.id}`, setOf(params)), title: text, dir: "auto" })}>${short(text, MAX_TITLE)}</a></span>`;
}

/** Numbers of failed steps and of errors that the session caused; the latter weigh more. */
function errors({ failedSteps, caused }: SessionItem): Content {
  if (failedSteps + caused === 0) return none;
  const words = [
    failedSteps > 0 && plural(failedSteps, "failed step"),
    caused > 0 && `caused ${plural(caused, "error")}`,
  ];
  const said = words.filter(Boolean).join(", ");
  return html`<span title="${said}">${failedSteps > 0 && number(failedSteps)}${failedSteps > 0 && caused > 0 && " · "}${caused > 0 && html`<span class="caused">${number(caused)} caused</span>`}</span>`;
}
