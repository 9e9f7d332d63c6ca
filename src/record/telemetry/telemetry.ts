/**
 * Telemetry: append-only streams of entries, one per device and repository, kept as sent.
 * Not here: what entries mean (spend, sessions), sessions and spans (traces).
 */
export {
  countEntries,
  type DeviceTotals,
  deviceTotals,
  listConflicts,
  listRepoKeys,
  listStreams,
  MAX_STREAMS,
  type Stream,
  streamFlaws,
} from "./browse.ts";
export {
  type EntryFilter,
  type EntryPage,
  type EntryRow,
  findEntry,
  listEntries,
} from "./entries.ts";
export { telemetryErasure } from "./erase.ts";
export { exportEntries, lastEntryId, telemetryExport, type UsageCandidate, usageCandidates } from "./follow.ts";
export { itemsAround } from "./items.ts";
export { type SealedTexts, sealedBlocks } from "./sealed.ts";
export { appendUnnumbered } from "./unnumbered.ts";
export { telemetryDeliveries } from "./verify.ts";
