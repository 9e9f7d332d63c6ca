import type { Core } from "../../core.ts";
import { dailyRows, type ErrorDay } from "./daily-rows.ts";
import type { Defect } from "./entry.ts";
import { readRow } from "./list.ts";

/** What errors files record of some days. */
export interface ErrorDays {
  /** Days with entries, oldest first. */
  readonly days: readonly ErrorDay[];
  /** The newest entries of those days whose class had been recorded on an earlier day, newest first. */
  readonly cameAgain: readonly Defect[];
}

/**
 * The entries of errors files that are dated in a span of days; as fresh as `entriesProjection`.
 * @param from the first day, YYYY-MM-DD
 * @param to the last one, included
 * @param most of `cameAgain`
 */
export function errorDays(core: Core, teamId: string, from: string, to: string, most: number): ErrorDays {
  const sql = dailyRows(core.store);
  const days = sql.days.all({ teamId, from, to });
  const any = days.some(({ again }) => again > 0);
  return { days, cameAgain: any ? sql.cameAgain.all({ teamId, from, to, most }).map(readRow) : [] };
}
