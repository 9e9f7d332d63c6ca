import { outcomeKind } from "../../../../formats/outcomes.ts";
import { DAY_MS, dateOfDay, dayNumber } from "../../../../kit/clock.ts";
import type { Watch } from "../../../../platform/rooms/rooms.ts";
import { listSessions, sessionCounts } from "../../../../record/traces/traces.ts";
import { plural } from "../../ui/units.ts";
import { link, repoName } from "../shared/links.ts";
import { short } from "../shared/text.ts";
import { titleOfSession } from "./labels.ts";

const MAX_REPO = 60;

/** Sessions that failed. */
export const watchSessions: Watch = async (call, since, most) => {
  const { core, session, href } = call;
  const team = session.team.id;
  const first = dayNumber(since);
  const failed = sessionCounts
    .byDay(core, team, first, dayNumber(core.clock.now()))
    .filter(({ outcome }) => outcomeKind(outcome) === "failed");
  if (failed.length === 0) return [];
  const from = dateOfDay(first);
  const { rows } = await listSessions(core, team, { outcomeKind: "failed", from: first * DAY_MS, limit: most });
  const count = failed.reduce((sum, { sessions }) => sum + sessions, 0);
  return [
    {
      count,
      says: plural(count, "failed session"),
      href: link(call, "/sessions", { from, result: "failed" }),
      list: rows.map((one) => ({
        kind: "warn",
        what: "Failed session",
        title: titleOfSession(one),
        about: short(repoName(one.repoKey), MAX_REPO),
        href: href(`/sessions/${one.id}`),
        at: one.endedAt ?? one.startedAt,
      })),
    },
  ];
};
