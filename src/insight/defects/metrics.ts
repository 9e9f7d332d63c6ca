import type { Core } from "../../core.ts";
import { onWire } from "../../formats/errors/fingerprint.ts";
import { listRepositories } from "../../record/brain/brain.ts";
import { standingOfEntry } from "../triage/triage.ts";
import { type RecurringClass, recurringClasses } from "./classes.ts";
import type { Defect } from "./entry.ts";
import { readRow } from "./list.ts";
import { rows } from "./rows.ts";
import { type DayCount, type Trend, trendRange, type Week, weeklyTrend, weeksUntil } from "./trend.ts";

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
const OPEN_LOOKED_AT = 100;

/**
 * Counts the entries of errors files; those of security and anti-patterns files are not errors that happened. As fresh as
 * `entriesProjection`.
 * @param repoKey all the team's repositories without it; zeros where it is unknown
 */
export function brainMetrics(core: Core, teamId: string, repoKey?: string): Metrics {
  const sql = rows(core.store);
  const [totals] = sql.totals(teamId, repoKey);
  const [files] = sql.skipped(teamId, repoKey);
  return {
    ...weeklyTrend(daysOf(core, teamId, repoKey), core.clock.now()),
    total: totals?.total ?? 0,
    openTotal: totals?.open ?? 0,
    open: newestOpen(core, teamId, repoKey, OPEN_SHOWN),
    skipped: files?.skipped ?? 0,
    recurring: recurringClasses(core, teamId, repoKey),
  };
}

/** How many entries of errors files each day of the last rolling weeks has. */
function daysOf(core: Core, teamId: string, repoKey: string | undefined, weeks?: number): DayCount[] {
  const { from, to } = trendRange(core.clock.now(), weeks);
  return rows(core.store).days(teamId, repoKey, from, to);
}

/**
 * How many entries of errors files each of the last rolling weeks has, oldest first; the last four are those of the trend.
 * @param repoKey all the team's repositories without it
 */
export function weeklyHistory(core: Core, teamId: string, weeks: number, repoKey?: string): Week[] {
  return weeksUntil(daysOf(core, teamId, repoKey, weeks), core.clock.now(), weeks);
}

/** The newest entries of errors files that say they are open. */
const newestOpen = (core: Core, teamId: string, repoKey: string | undefined, most: number): Defect[] =>
  rows(core.store).open(teamId, repoKey, most).map(readRow);

/** The same without those that people said are resolved or snoozed, at most three; looked for among the newest hundred. */
export function stillOpen(core: Core, teamId: string, repoKey?: string): Defect[] {
  const found: Defect[] = [];
  for (const entry of newestOpen(core, teamId, repoKey, OPEN_LOOKED_AT)) {
    const { state } = standingOfEntry(core, teamId, onWire(entry.fingerprint), entry);
    if (state === "open" || state === "again") found.push(entry);
    if (found.length === OPEN_SHOWN) break;
  }
  return found;
}

/** What a team's errors files record. */
export interface EntryCounts {
  /** Repositories with a brain. */
  readonly repositories: number;
  readonly entries: number;
  /** Those of them that say they are open. */
  readonly open: number;
}

/** Counts the entries of the errors files in a team's current brains; as fresh as `entriesProjection`. */
export function countEntries(core: Core, teamId: string): EntryCounts {
  const [totals] = rows(core.store).totals(teamId, undefined);
  const repositories = listRepositories(core, teamId).length;
  return { repositories, entries: totals?.total ?? 0, open: totals?.open ?? 0 };
}
