import type { Core } from "../../core.ts";
import { rows } from "./rows.ts";
import { trendRange, type Week, weeksUntil } from "./trend.ts";

/**
 * How many entries of errors files each of the last rolling weeks has, oldest first; the last four are those of the trend.
 * @param repoKey all the team's repositories without it
 */
export function weeklyHistory(core: Core, teamId: string, weeks: number, repoKey?: string): Week[] {
  const sql = rows(core.store);
  const now = core.clock.now();
  const { from, to } = trendRange(now, weeks);
  const days =
    repoKey === undefined ? sql.daysOfTeam.all(teamId, from, to) : sql.daysOfRepo.all(teamId, repoKey, from, to);
  return weeksUntil(days, now, weeks);
}
