import { DAY_MS } from "./clock.ts";

const QUIET_MS = 3 * DAY_MS;

/** Whether who can report has not for three days: a weekend is shorter. @param silentSince milliseconds since the epoch, as `now`; null for who need not */
export const isQuiet = (silentSince: number | null, now: number): boolean =>
  silentSince !== null && silentSince < now - QUIET_MS;
