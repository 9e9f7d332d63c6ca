import type { Core } from "../../core.ts";
import { listRepositories } from "../../record/brain/brain.ts";
import { rows } from "./rows.ts";

/** What a team's errors files record. */
export interface EntryCounts {
  /** Repositories with a brain. */
  readonly repositories: number;
  readonly entries: number;
  /** Those of them that say they are open. */
  readonly open: number;
}

/** Counts the entries of the errors files in a team's current brains; as fresh as `entriesProjection`. */
export function countEntries(core: Core, teamId: string): EntryCounts {
  const { total = 0, open = 0 } = rows(core.store).totalsOfTeam.get(teamId) ?? {};
  return { repositories: listRepositories(core, teamId).length, entries: total, open };
}
