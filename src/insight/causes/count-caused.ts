import type { Core } from "../../core.ts";
import { cooperative } from "../../kit/yield.ts";
import { inBatches } from "../../platform/projections/projections.ts";
import { noteCaused, notedCauses } from "../sessions/sessions.ts";
import { linkRows } from "./link-rows.ts";

/** How many entries are put down to each session, kept beside it for lists. */

/** Row change: counts for some sessions anew. */
export function countCaused(core: Core, sessionIds: Iterable<number>): void {
  const sql = linkRows(core.store);
  for (const id of sessionIds) noteCaused(core, id, sql.countedOfSession.get(id) ?? 0);
}

/** How many of a repository's entries are put down to each session. */
export const countedIn = (core: Core, teamId: string, repoKey: string): ReadonlyMap<number, number> =>
  new Map(
    linkRows(core.store)
      .countedInRepo.all(teamId, repoKey)
      .map(({ sessionId, entries }) => [sessionId, entries]),
  );

/**
 * Counts anew for the sessions of a repository whose count changed, and for sessions of other repositories, or of none, that its entries
 * were put down to or are now.
 * @param before what `countedIn` told before anything changed
 */
export async function recountRepository(
  core: Core,
  teamId: string,
  repoKey: string,
  before: ReadonlyMap<number, number>,
): Promise<void> {
  const yieldNow = cooperative(core.clock);
  const counted = countedIn(core, teamId, repoKey);
  await yieldNow();
  const noted = notedCauses.ofRepo(core, teamId, repoKey);
  await yieldNow();
  const changed = [...new Set([...counted.keys(), ...noted.keys(), ...before.keys()])].filter(
    (id) => counted.get(id) !== noted.get(id) || counted.get(id) !== before.get(id),
  );
  // A person may have named a session of another repository: each is counted by itself.
  await count(core, changed);
}

/** Counts for those of some sessions of which the count changed. */
export async function recountSessions(core: Core, sessionIds: Iterable<number>): Promise<void> {
  const { countedOfSession } = linkRows(core.store);
  const changed: number[] = [];
  const yieldNow = cooperative(core.clock);
  for (const id of sessionIds) {
    await yieldNow();
    if ((countedOfSession.get(id) ?? 0) !== notedCauses.of(core, id)) changed.push(id);
  }
  await count(core, changed);
}

async function count(core: Core, sessionIds: readonly number[]): Promise<void> {
  for await (const some of inBatches(sessionIds.map((id) => () => countCaused(core, [id]))))
    await core.store.write(some);
}
