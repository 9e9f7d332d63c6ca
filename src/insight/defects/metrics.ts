import type { Core } from "../../core.ts";
import { type RecurringClass, recurringClasses } from "./classes.ts";
import type { Defect } from "./entry.ts";
import { readRow } from "./list.ts";
import { rows } from "./rows.ts";
import { type Trend, trendRange, weeklyTrend } from "./trend.ts";

/** What the errors files of a team or of one of its repositories come to. */
export interface Metrics extends Trend {
  readonly total: number;
  /** Entries that say they are open. */
  readonly openTotal: number;
  /** The newest of them, at most three. */
  readonly open: readonly Defect[];
  /** Level-2 headings that are no entry, having no date, entries beyond the most of a file, and files that cannot be read. */
  readonly skipped: number;
  readonly recurring: readonly RecurringClass[];
}

const OPEN_SHOWN = 3;

/**
 * Counts the entries of errors files; those of security and anti-patterns files are not errors that happened. As fresh as
 * `entriesProjection`.
 * @param repoKey all the team's repositories without it; zeros where it is unknown
 */
export function brainMetrics(core: Core, teamId: string, repoKey?: string): Metrics {
  const sql = rows(core.store);
  const now = core.clock.now();
  const { from, to } = trendRange(now);
  const [days, totals, skipped] =
    repoKey === undefined
      ? [sql.daysOfTeam.all(teamId, from, to), sql.totalsOfTeam.get(teamId), sql.skippedOfTeam.get(teamId)]
      : [
          sql.daysOfRepo.all(teamId, repoKey, from, to),
          sql.totalsOfRepo.get(teamId, repoKey),
          sql.skippedOfRepo.get(teamId, repoKey),
        ];
  return {
    ...weeklyTrend(days, now),
    total: totals?.total ?? 0,
    openTotal: totals?.open ?? 0,
    open: newestOpen(core, teamId, repoKey),
    skipped: skipped ?? 0,
    recurring: recurringClasses(core, teamId, repoKey),
  };
}

/** The newest open entries of errors files, at most three. */
export function newestOpen(core: Core, teamId: string, repoKey?: string): Defect[] {
  const sql = rows(core.store);
  const found =
    repoKey === undefined ? sql.openOfTeam.all(teamId, OPEN_SHOWN) : sql.openOfRepo.all(teamId, repoKey, OPEN_SHOWN);
  return found.map(readRow);
}
