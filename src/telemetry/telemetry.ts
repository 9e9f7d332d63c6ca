/**
 * Telemetry: append-only streams of entries, one per device and repository, kept as sent.
 * Not here: what entries mean (spend, sessions), sessions and spans (traces).
 */
export {
  type ConflictRow,
  type DeviceTotals,
  deviceTotals,
  listConflicts,
  listStreams,
  type Stream,
} from "./browse.ts";
export { type EntryFilter, type EntryPage, type EntryRow, listEntries } from "./entries.ts";
export { exportEntries } from "./export.ts";
export { telemetryDigest } from "./verify.ts";
