/**
 * Traces: agent sessions with their spans and labels, merged as they grow.
 * Not here: the raw stream of entries (telemetry), what sessions cost (spend) or caused (defects).
 */
export type { StoredCounts } from "./store-batch.ts";
