/**
 * Projections: tables that hold nothing of their own and follow others, such as what was spent by day. Each reads its source
 * from where it stands, a bounded batch at a time, and stores what it made of a batch together with the new checkpoint, so that
 * neither a crash nor a second process makes it miss or count anything twice. What cannot be worked through is passed over and
 * recorded, so that one bad delivery keeps nothing behind it waiting.
 * Not here: what is derived (spend, defects), or the ledger that deliveries are chained in.
 */
export { inBatches, type RowChange } from "./batches.ts";
export { eraseCauses, failures, recordFailure } from "./failures.ts";
export { projectionMetrics } from "./figures.ts";
export type { Batch, Projection } from "./projection.ts";
export {
  areCaughtUp,
  catchUp,
  checkpointOf,
  forgetProjections,
  lagOf,
  passOver,
  restartProjections,
  runProjections,
} from "./run.ts";
export { Behind, refreshWithin, requireCaughtUp, stillReading } from "./wait.ts";
