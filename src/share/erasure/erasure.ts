/**
 * Erasure: what is forgotten at somebody's request, what is held all the same, and for how long what is kept.
 * Not here: removing rows, which each room does with its own.
 */
export {
  type Counts,
  carryOut,
  type ErasureState,
  erasuresOf,
  journalBeforeReplaced,
  notedErasure,
  openErasures,
  requestErasure,
} from "./erasures.ts";
export { listHolds } from "./hold-rows.ts";
export { type Hold, heldOf, placeHold, releaseHold } from "./holds.ts";
export { readJournal } from "./journal.ts";
export { lastRuns } from "./nightly.ts";
export { type ErasurePlan, planErasure } from "./plan.ts";
export { resumeErasures } from "./resume.ts";
export {
  ADVISED_DAYS,
  MAX_DAYS,
  RETENTION_KINDS,
  type RetentionKind,
  retentionOf,
  setRetention,
} from "./retention.ts";
export { resolveTarget } from "./targets.ts";
