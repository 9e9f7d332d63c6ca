import type { Core } from "../../core.ts";
import { type Twin, twinRows, type UnlistedCount } from "./twin-rows.ts";

/** Twins: the same session as another device of the team tells it. An agent that exports over OTLP may have a token of its own. */

/** The exported tellings of a session that was sent as a whole. */
const exportedOf = (core: Core, id: number): Twin[] => twinRows(core.store).exportedOf.all(id);

/** The telling as a whole of a session that was only exported. */
const wholeOf = (core: Core, deviceId: string, externalId: string): Twin | undefined =>
  twinRows(core.store).wholeOf.get(deviceId, externalId);

/**
 * The tellings by other devices of a session that is told as a whole; these are whole, too, the newest first, 20 at most. They come from a
 * machine that was connected anew, or a copied home folder. None is a part of another: each is listed.
 */
const othersWhole = (core: Core, id: number): Twin[] => twinRows(core.store).othersWhole.all(id);

/** The tellings as a whole that name nobody, of a session that says whose they are. */
const unnamedOf = (core: Core, id: number): Twin[] => twinRows(core.store).unnamed.all(id);

/** Whether a telling as a whole is the only one that keeps the exported tellings out of the lists. */
const isOnlyWhole = (core: Core, id: number): boolean => twinRows(core.store).otherWhole.get(id) === undefined;

/** Whether a session stands in lists; undefined where there is none of that number. */
const isListed = (core: Core, id: number): boolean | undefined => {
  const exported = twinRows(core.store).exported.get(id);
  return exported === undefined ? undefined : exported < 2;
};

/** Some sessions without those that stand in no list, because another device tells of them as a whole. */
function listed<One>(core: Core, some: readonly One[], idOf: (one: One) => number): One[] {
  if (some.length === 0) return [];
  const gone = new Set(twinRows(core.store).unlisted.all(JSON.stringify(some.map(idOf))));
  return some.filter((one) => !gone.has(idOf(one)));
}

/** How many of a team's sessions stand in no list, by model and agent. @param repoKey null for all */
const unlistedMakers = (core: Core, teamId: string, repoKey: string | null): UnlistedCount[] =>
  twinRows(core.store).unlistedMakers.all({ teamId, repoKey });

export const sessionTwins = {
  exportedOf,
  wholeOf,
  othersWhole,
  unnamedOf,
  isOnlyWhole,
  isListed,
  listed,
  unlistedMakers,
};
