import { sessionDays } from "./daily.ts";
import { countFailedSpans, countOutcomes, countSessionsAfter } from "./follow.ts";

/** How many: sessions by day and outcome, by outcome between instants, after a delivery; spans of a session that failed. */
export const sessionCounts = {
  byDay: sessionDays,
  outcomes: countOutcomes,
  after: countSessionsAfter,
  failedSpans: countFailedSpans,
};
