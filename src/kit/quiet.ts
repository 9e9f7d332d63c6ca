import { DAY_MS } from "./clock.ts";

const QUIET_MS = 3 * DAY_MS;

/**
 * Whether a reporter has been silent for three days, which is longer than a weekend.
 * @param silentSince milliseconds since the epoch, as `now`; null when no report is expected
 */
export const isQuiet = (silentSince: number | null, now: number): boolean =>
  silentSince !== null && silentSince < now - QUIET_MS;
