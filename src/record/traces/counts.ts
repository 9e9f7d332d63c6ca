import type { Core } from "../../core.ts";
import { dailyRows, type SessionDay } from "./daily-rows.ts";
import { countFailedSpans, countSessionsAfter } from "./follow.ts";

/** A day and an outcome cost a row; agents that invent an outcome for each session cost no more than this. */
const MAX_ROWS = 20_000;

/**
 * How many of a team's sessions began on which day and how they ended, oldest first; outcomes in their own words, 40 characters of each.
 * @param fromDay the first day, since the epoch, UTC
 * @param toDay the last one, included
 */
const sessionDays = (core: Core, teamId: string, fromDay: number, toDay: number): SessionDay[] =>
  dailyRows(core.store).days.all(teamId, fromDay, toDay, MAX_ROWS);

/** How many: sessions by day and outcome, after a delivery; spans of a session that failed. */
export const sessionCounts = {
  byDay: sessionDays,
  after: countSessionsAfter,
  failedSpans: countFailedSpans,
};
