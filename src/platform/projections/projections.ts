/**
 * Projections: tables that hold nothing of their own and follow others, such as spend by day. Each reads its source from where it stands, a
 * bounded batch at a time, and stores the result together with the new checkpoint, so that neither a crash nor a second process makes it
 * miss anything or count it twice. A batch that always fails is skipped and recorded, so that one bad delivery keeps nothing behind it
 * waiting.
 * Not here: what is derived (spend, defects), or the deliveries that it is derived from (log).
 */
export { inBatches, type RowChange } from "./batches.ts";
export { besideRuns } from "./beside-runs.ts";
export { eraseCauses, failures, recordFailure } from "./failures.ts";
export { projectionMetrics } from "./figures.ts";
export type { Batch, Projection } from "./projection.ts";
export { catchUp, lagOf, runProjections } from "./run.ts";
export { areCaughtUp, checkpointOf, forgetProjections, passOver, restartProjections } from "./standing.ts";
export { Behind, refreshWithin, requireCaughtUp, requireSoon, stillReading } from "./wait.ts";
