/**
 * Pulses: the newest hourly figures that each device tells of each repository's brain, counts and fingerprints only.
 * Not here: the brains' own entries and classes (defects).
 */
export { erasePulses, hasPulse, listPulses, type Pulses } from "./list.ts";
