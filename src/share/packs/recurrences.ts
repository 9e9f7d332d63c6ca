import { type Core, slot } from "../../core.ts";
import { deviceFinder } from "../../identity/devices/devices.ts";
import { countEndedClasses } from "../../insight/defects/defects.ts";
import { finish, type Slices } from "../../kit/slices.ts";
import { type PackRow, rows } from "./rows.ts";

/** How many recurring errors a pack ended for teams that installed it, by the errors files of each. That takes long, so it is measured in slices. */

type Installed = Pick<PackRow, "id" | "teamId" | "versionId" | "classes"> & { readonly outsideInstalls: number };

/** Teams looked at, those who have the pack for longest. */
const MAX_TEAMS = 100;

/** What other teams' errors files tell since they installed the pack; null while that is not known. */
export function* recurrencesRemoved(core: Core, row: Installed): Slices<number | null> {
  if (row.outsideInstalls === 0 || row.classes === "[]") return null;
  const classes = JSON.parse(row.classes) as string[];
  let removed: number | null = null;
  for (const learner of learners(core, row)) {
    const ended = countEndedClasses(core, [learner], classes);
    if (ended !== undefined) removed = (removed ?? 0) + ended;
    yield;
  }
  return removed;
}

/** The other teams that have a pack, each from its first install on. */
function learners(core: Core, { id, teamId: own }: Installed): { teamId: string; at: number }[] {
  const installs = rows(core.store).installsOf.all(id);
  const deviceOf = deviceFinder(core);
  const first = new Map<string, number>();
  for (const { deviceId, at } of installs) {
    const teamId = deviceOf(deviceId)?.teamId ?? own;
    if (teamId !== own) first.set(teamId, Math.min(at, first.get(teamId) ?? at));
  }
  const all = Array.from(first, ([teamId, at]) => ({ teamId, at }));
  return all.toSorted((a, b) => a.at - b.at).slice(0, MAX_TEAMS);
}

/** What was found last, by versions' numbers, and when that was, by the monotonic clock. */
export const foundRemoved = slot(() => ({
  byVersion: new Map<number, number | null>() as ReadonlyMap<number, number | null>,
  at: Number.NEGATIVE_INFINITY,
}));

/**
 * The same, as it was found last, or now where it was not yet.
 * @param until when, by the monotonic clock, nothing is looked for any more: it is not known then
 */
export function knownRemoved(core: Core, row: Installed, until = Number.POSITIVE_INFINITY): number | null {
  const found = foundRemoved(core).byVersion.get(row.versionId);
  if (found !== undefined || core.clock.monotonic() >= until) return found ?? null;
  return finish(recurrencesRemoved(core, row));
}
