/**
 * Alarms: conditions that are watched, and noted when they begin and when they are over; and the digest of each week.
 * Not here: who hears of them (notifications), figures for Prometheus, which every room declares for itself.
 */

export { digestJob } from "./digest.ts";
export { alarmsJob, QUIET_MS } from "./watch.ts";
