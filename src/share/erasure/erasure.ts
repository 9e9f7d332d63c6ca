/**
 * Erasure: what is forgotten at somebody's request, what is held all the same, and for how long what is kept.
 * Not here: removing rows, which each room does with its own.
 */
export { type Counts, carryOut, isOnRecord, requestErasure, resumeErasures } from "./erasures.ts";
export { type Hold, listHolds, placeHold, releaseHold } from "./holds.ts";
export { type Erasure, JOURNAL } from "./journal.ts";
export { type ErasurePlan, planErasure } from "./plan.ts";
export { resolveTarget } from "./targets.ts";
