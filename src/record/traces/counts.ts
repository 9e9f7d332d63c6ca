import { sessionDays } from "./daily.ts";
import { countFailedSpans, countSessionsAfter } from "./follow.ts";

/** How many: sessions by day and outcome, after a delivery; spans of a session that failed. */
export const sessionCounts = {
  byDay: sessionDays,
  after: countSessionsAfter,
  failedSpans: countFailedSpans,
};
