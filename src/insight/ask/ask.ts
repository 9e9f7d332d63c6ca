/**
 * Ask: cited slices of the brains that a read token opens, and the record of what was asked.
 * Not here: who has a token and how far it reaches (read-tokens), how brains are stored and searched (brain).
 */
export { eraseDeviceReads, listDeviceReads, recordDeviceRead } from "./device-reads.ts";
export { eraseOldReads, eraseReads, listReads, READ_LIMITS, readsToday, recordRead } from "./reads.ts";
export { askWithin, type ContextHit, type Reach, readableTeams } from "./search.ts";
