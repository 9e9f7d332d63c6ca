/**
 * Derived: everything that is made of the record, by name, for those who deal with all of it at once: a team that moves, and erasing.
 * Not here: what each of it is (its own room).
 */
import type { Core } from "../../core.ts";
import { StoreUnavailable } from "../../kit/errors.ts";
import { catchUp, type Projection } from "../../platform/projections/projections.ts";
import { evidenceProjection, linksProjection } from "../causes/causes.ts";
import { entriesProjection } from "../defects/defects.ts";
import { findsProjection } from "../find/find.ts";
import { sessionsProjection } from "../sessions/sessions.ts";
import { spendEntriesProjection, spendSessionsProjection } from "../spend/spend.ts";

/** All projections, in the order of their rooms. */
export const DERIVED: readonly Projection[] = [
  entriesProjection,
  sessionsProjection,
  evidenceProjection,
  linksProjection,
  spendEntriesProjection,
  spendSessionsProjection,
  findsProjection,
];

/**
 * Brings all of them up to what was delivered.
 * @throws StoreUnavailable when nothing can be stored, or the instance is stopping; what one of them threw, once all had their turn
 */
export async function deriveAll(core: Core): Promise<void> {
  const failures: unknown[] = [];
  for (const projection of DERIVED)
    try {
      await catchUp(core, projection);
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      failures.push(error);
    }
  if (failures.length > 0) throw failures[0];
}
