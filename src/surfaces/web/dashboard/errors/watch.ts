import {
  countEntries,
  type Defect,
  errorDays,
  freshenEntries,
  onWire,
  pageOfDefects,
} from "../../../../insight/defects/defects.ts";
import { standings } from "../../../../insight/triage/triage.ts";
import { isoInstant } from "../../../../kit/clock.ts";
import type { Concern, Watch } from "../../../../platform/rooms/rooms.ts";
import { plural } from "../../ui/units.ts";
import { repoName } from "../shared/links.ts";
import { short } from "../shared/text.ts";
import { nameOf, titleOf } from "./labels.ts";

const MAX_REPO = 60;

/** Errors that came again, and those that are open. Each entry counts, where the page on errors counts classes of them. */
export const watchErrors: Watch = async ({ core, session, href }, since, most) => {
  await freshenEntries(core);
  const team = session.team.id;
  const day = (at: number) => isoInstant(at).slice(0, 10);
  const { days, cameAgain } = errorDays(core, team, day(since), day(core.clock.now()), most);
  const open = pageOfDefects(core, team, { kind: "error", open: true, limit: most }).rows;
  const again = new Set(cameAgain.map(({ id }) => id));
  const taken = standings(
    core,
    team,
    [...cameAgain, ...open].map(({ fingerprint }) => onWire(fingerprint)),
  );
  const about = ({ repoKey, fingerprint }: Defect) => {
    const owner = taken.get(onWire(fingerprint))?.owner;
    return `${short(repoName(repoKey), MAX_REPO)} · ${owner ? short(nameOf(owner), MAX_REPO) : "nobody on it"}`;
  };
  const concern =
    (kind: Concern["kind"], what: string) =>
    (defect: Defect): Concern => ({
      kind,
      what,
      title: titleOf(defect),
      about: about(defect),
      href: href(`/errors/${defect.id}`),
      at: Date.parse(defect.date),
    });
  const came = days.reduce((sum, one) => sum + one.again, 0);
  const others = Math.max(0, countEntries(core, team).open - cameAgain.filter((one) => one.open).length);
  return [
    {
      count: came,
      says: `${plural(came, "entry", "entries")} of errors that came again`,
      href: href("/errors?state=again#entries"),
      list: cameAgain.map(concern("bad", "Came again")),
    },
    {
      count: others,
      says: `${plural(others, "open entry", "open entries")} of errors`,
      href: href("/errors?open=on&kind=error#entries"),
      list: open.filter(({ id }) => !again.has(id)).map(concern("warn", "Open error")),
    },
  ];
};
