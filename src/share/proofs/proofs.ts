/**
 * Proofs: what shows to somebody with the log's key alone that a thing is in the log.
 * Not here: the tree (platform/transparency), what is hashed of a delivery (log, and the rooms that store it), checking (kit).
 */
export { numberOfSession, PROVABLE, type Provable, prove } from "./prove.ts";
