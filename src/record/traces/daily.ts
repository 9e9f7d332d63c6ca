import type { Core } from "../../core.ts";
import { dailyRows, type SessionDay } from "./daily-rows.ts";

/** A day and an outcome cost a row; agents that invent an outcome for each session cost no more than this. */
const MAX_ROWS = 20_000;

/**
 * How many of a team's sessions began on which day and how they ended, oldest first; outcomes in their own words, 40 characters of each.
 * @param fromDay the first day, since the epoch, UTC
 * @param toDay the last one, included
 */
export const sessionDays = (core: Core, teamId: string, fromDay: number, toDay: number): SessionDay[] =>
  dailyRows(core.store).days.all(teamId, fromDay, toDay, MAX_ROWS);
