import type { Core } from "../../core.ts";
import { onWire } from "../../formats/errors/fingerprint.ts";
import { listRepositories } from "../../record/brain/brain.ts";
import { standingOfEntry } from "../triage/triage.ts";
import { openEntries } from "./browse.ts";
import { type RecurringClass, recurringClasses } from "./classes.ts";
import type { Defect } from "./entry.ts";
import { readRow } from "./list.ts";
import { readErrors } from "./of-errors.ts";
import { type DefectRow, rows } from "./rows.ts";
import { type DayCount, type Trend, trendRange, weeklyTrend } from "./trend.ts";

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
export async function brainMetrics(core: Core, teamId: string, repoKey?: string): Promise<Metrics> {
  const { total, open } = await totalsOf(core, teamId, repoKey);
  const [files] = rows(core.store).skipped(teamId, repoKey);
  return {
    ...weeklyTrend(daysOf(core, teamId, repoKey), core.clock.now()),
    total,
    openTotal: open,
    open: await newestOpen(core, teamId, repoKey, OPEN_SHOWN),
    skipped: files?.skipped ?? 0,
    recurring: await recurringClasses(core, teamId, repoKey),
  };
}

async function totalsOf(core: Core, teamId: string, repoKey: string | undefined) {
  const found = await readErrors(core, "totals", { teamId, repoKey });
  return found.reduce((sum, one) => ({ total: sum.total + one.total, open: sum.open + one.open }));
}

/** How many entries of errors files each day of the four rolling weeks has. */
function daysOf(core: Core, teamId: string, repoKey: string | undefined): DayCount[] {
  const { from, to } = trendRange(core.clock.now());
  return rows(core.store).days(teamId, repoKey, from, to);
}

/** The newest entries of errors files that say they are open. */
async function newestOpen(core: Core, teamId: string, repoKey: string | undefined, most: number): Promise<Defect[]> {
  const found = await readErrors(core, "open", { teamId, repoKey, most });
  return found.sort(newestFirst).slice(0, most).map(readRow);
}

/** Those of one day in the order of their files. */
function newestFirst(a: DefectRow, b: DefectRow): number {
  if (a.date !== b.date) return a.date < b.date ? 1 : -1;
  if (a.repoKey !== b.repoKey) return a.repoKey < b.repoKey ? -1 : 1;
  return a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1;
}

/** The same without those that people said are resolved or snoozed, at most three. */
export async function stillOpen(core: Core, teamId: string, repoKey?: string): Promise<Defect[]> {
  const found: Defect[] = [];
  const look = (entry: Defect) => {
    const { state } = standingOfEntry(core, teamId, onWire(entry.fingerprint), entry);
    if (state === "open" || state === "again") found.push(entry);
    return found.length === OPEN_SHOWN;
  };
  // Mostly there are enough among the newest, which are found sooner than all are looked through.
  const newest = await newestOpen(core, teamId, repoKey, OPEN_LOOKED_AT);
  if (newest.some(look) || newest.length < OPEN_LOOKED_AT) return found;
  const seen = new Set(newest.map(({ id }) => id));
  for await (const entry of openEntries(core, teamId, repoKey)) if (!seen.has(entry.id) && look(entry)) break;
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
export async function countEntries(core: Core, teamId: string): Promise<EntryCounts> {
  const { total, open } = await totalsOf(core, teamId, undefined);
  return { repositories: listRepositories(core, teamId).length, entries: total, open };
}
