/**
 * Telemetry: append-only streams of entries, one per device and repository, kept as sent.
 * Not here: what entries mean (spend, sessions), sessions and spans (traces).
 */
export { telemetryDigest } from "./verify.ts";
