import { freshenEntries } from "../../../../insight/defects/defects.ts";
import { openErrors, ownersOf } from "../../../../insight/triage/triage.ts";
import { isoDate } from "../../../../kit/clock.ts";
import type { Concern, Watch } from "../../../../platform/rooms/rooms.ts";
import { plural } from "../../ui/units.ts";
import { repoName } from "../shared/links.ts";
import { short } from "../shared/text.ts";
import { errorHref, nameOf } from "./labels.ts";

const MAX_REPO = 60;
const MAX_TITLE = 160;

/** Errors that came again, and those that are open, as the page on errors has them: what somebody resolved or snoozed is neither. */
export const watchErrors: Watch = async (call, since, most) => {
  const { core, session, href } = call;
  await freshenEntries(core);
  const { cameAgain, open } = await openErrors.pressing(core, session.team.id, isoDate(since), most);
  const owners = ownersOf(
    core,
    [...cameAgain.rows, ...open.rows].map(({ ownerId }) => ownerId),
  );
  const concern =
    (kind: Concern["kind"], what: string) =>
    (error: (typeof open.rows)[number]): Concern => {
      const owner = owners.get(error.ownerId ?? "");
      return {
        kind,
        what,
        title: short(error.title, MAX_TITLE),
        about: `${short(repoName(error.repoKey), MAX_REPO)} · ${owner ? short(nameOf(owner), MAX_REPO) : "nobody on it"}`,
        href: errorHref(call, error),
        at: Date.parse(error.lastSeen),
      };
    };
  return [
    {
      count: cameAgain.count,
      says: `${plural(cameAgain.count, "error")} that came again`,
      href: href("/errors?kind=error&state=again#entries"),
      list: cameAgain.rows.map(concern("bad", "Came again")),
    },
    {
      count: open.count,
      // The list that it leads to has those that came again as well.
      says: plural(open.count, cameAgain.count > 0 ? "more open error" : "open error"),
      href: href("/errors?kind=error#entries"),
      list: open.rows.map(concern("warn", "Open error")),
    },
  ];
};
