import { isDeepStrictEqual } from "node:util";
import type { Core } from "../../core.ts";
import type { Projection } from "./projection.ts";
import { rows } from "./rows.ts";

/** Where a projection stands: the last row of its source that it read, and how many parts of the next batch are stored. */
export interface Standing {
  readonly checkpoint: number;
  readonly part: number;
}

/** Where it stands in the database. */
export const standingOf = (core: Core, { name }: Projection): Standing =>
  rows(core.store).standing.get(name) ?? { checkpoint: 0, part: 0 };

/** Whether it still stands there: nobody else stored what follows. Call inside a transaction. */
export const standsAt = (core: Core, projection: Projection, standing: Standing): boolean =>
  isDeepStrictEqual(standingOf(core, projection), standing);

/** The number of the last row of its source that a projection has read; 0 before the first. */
export const checkpointOf = (core: Core, projection: Projection): number => standingOf(core, projection).checkpoint;

/**
 * Forgets projections that a newer program no longer has, so that their tables can be emptied. Call inside a transaction.
 * @returns whether there were any
 */
export const forgetProjections = (core: Core, names: readonly string[]): boolean =>
  names.filter((name) => rows(core.store).remove.run(name).changes > 0).length > 0;

/**
 * Lets projections read their sources from the beginning, because their tables were emptied. Call inside the transaction that empties them;
 * a batch that is applied in it must store nothing and return "more".
 * @returns whether any had read something
 */
export const restartProjections = (core: Core, names: readonly string[]): boolean =>
  names.filter((name) => rows(core.store).restart.run(name).changes > 0).length > 0;

/** Whether projections have read all that their sources hold; one look, inside a transaction. */
export const areCaughtUp = (core: Core, projections: readonly Projection[]): boolean =>
  projections.every((projection) => projection.skip?.(core, checkpointOf(core, projection)) === undefined);

/**
 * Row change: moves projections past all that their sources hold. For rows that were brought together with what follows from them. Call in
 * the transaction that stores both, after making sure that nothing else waited to be read.
 */
export function passOver(core: Core, projections: readonly Projection[]): void {
  for (const { name, newest } of projections) rows(core.store).pass.run({ name, checkpoint: newest?.(core) ?? 0 });
}
