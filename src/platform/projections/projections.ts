/**
 * Derivations: tables that hold nothing of their own and follow others, such as what was spent by day. Each reads its source
 * from where it stands, a bounded piece at a time, and stores what it made of a piece together with the new position, so that
 * neither a crash nor a second process makes it miss or count anything twice. What cannot be worked through is passed over and
 * recorded, so that one bad delivery keeps nothing behind it waiting.
 * Not here: what is derived (spend, defects), or the ledger that deliveries are chained in.
 */
export { failures, recordFailure } from "./failures.ts";
export { catchUp, type Projection as Derivation, isBehind, type Batch as Piece, runProjections as runDerivations } from "./run.ts";
export { Behind, freshen, requireCaughtUp } from "./wait.ts";
