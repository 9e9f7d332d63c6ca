import { evidenceProjection, linksProjection } from "../../insight/causes/causes.ts";
import { entriesProjection } from "../../insight/defects/defects.ts";
import { findsProjection } from "../../insight/find/find.ts";
import { sessionsProjection } from "../../insight/sessions/sessions.ts";
import { spendEntriesProjection, spendSessionsProjection } from "../../insight/spend/spend.ts";
import type { Projection } from "../../platform/projections/projections.ts";

/**
 * All projections, in the order of their rooms. What they made moves along: figures stay of what ran out, and numbers that people go by
 * stay in their order, which would be lost if it was made anew.
 */
export const DERIVED: readonly Projection[] = [
  entriesProjection,
  sessionsProjection,
  evidenceProjection,
  linksProjection,
  spendEntriesProjection,
  spendSessionsProjection,
  findsProjection,
];
