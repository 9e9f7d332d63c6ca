import type { Core } from "../../core.ts";
import { contentOf } from "./contents.ts";
import { type CurrentRow, type ManifestEntries, rows } from "./rows.ts";

/** A repository's current brain, for what is derived from it. */
export interface CurrentBrain {
  readonly teamId: string;
  readonly repoKey: string;
  readonly snapshotId: number;
  /** Paths with the number of their content, sorted by path. */
  readonly files: ManifestEntries;
}

/** The number of the newest snapshot of all teams; 0 before the first. */
const newest = (core: Core): number => rows(core.store).newestSnapshot.get() ?? 0;

/**
 * Of all teams' current brains the one whose snapshot has the smallest number above the given one: what came, in its order,
 * without what was replaced since.
 */
function next(core: Core, above: number): CurrentBrain | undefined {
  const row = rows(core.store).nextCurrent.get(above);
  return row && brainOf(row);
}

const brainOf = ({ entries, ...current }: CurrentRow): CurrentBrain => ({
  ...current,
  files: JSON.parse(entries) as ManifestEntries,
});

/** Current brains in the order in which they came. */
export const brainSequence = { newest, next };

/** A team's current brains by repository. */
export function currentBrains(core: Core, teamId: string): CurrentBrain[] {
  return rows(core.store).currents.all(teamId).map(brainOf);
}

/** The content that a manifest names by number; content never changes. */
export function readBlob(core: Core, blobId: number): string {
  const blob = rows(core.store).blobById.get(blobId);
  return blob ? contentOf(core, blob) : "";
}
