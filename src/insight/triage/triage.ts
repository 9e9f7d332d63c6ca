/**
 * Triage: what people say and do of errors: who takes one on, that it is resolved, snoozed or open again, comments, where it is
 * tracked; the classes of errors as they are listed and counted; and that one came again.
 * Not here: what entries say and which are of one class (defects), what caused them (causes).
 */
export { type Act, act, type Subject } from "./acts.ts";
export {
  type ClassCounts,
  type ClassQuery,
  countClasses,
  newClassesByDay,
  openErrors,
  pageOfErrors,
  SORTS,
} from "./classes.ts";
export { triageErasure } from "./erase.ts";
export { exportTriage } from "./export.ts";
export { type ClassFacts, storeClass } from "./follow.ts";
export {
  type Owner,
  ownersIn,
  ownersOf,
  STATES,
  type Standing,
  type State,
  standingOfClass,
  standingOfEntry,
  standings,
} from "./standing.ts";
export { type TimelineEntry, timelineOf } from "./timeline.ts";
