import type { Core } from "../../core.ts";
import { DAY_MS, isoInstant } from "../../kit/clock.ts";
import { soughtText } from "../../kit/strings.ts";
import { classRange } from "./class-changes.ts";
import { pageRows } from "./page-rows.ts";
import { trendRange, weeksUntil } from "./trend.ts";

/** When entries of whatever kind are dated, and which headings have no date. As fresh as `entriesProjection`. */

interface DayOfEntries {
  /** YYYY-MM-DD */
  readonly date: string;
  readonly count: number;
}

/** How many entries each day has, the oldest first. @param from YYYY-MM-DD, that day counts */
const entriesByDay = (core: Core, teamId: string, from: string, repoKey?: string): DayOfEntries[] =>
  pageRows(core.store).days.all(teamId, from, repoKey ?? null);

/** How many entries a class has in each of the last rolling weeks, the oldest first. @param fingerprint its 8 digits */
function weeksOfClass(core: Core, teamId: string, fingerprint: string, weeks: number): number[] {
  const now = core.clock.now();
  const { from } = trendRange(now, weeks);
  const dates = pageRows(core.store).datesOfClass.all(teamId, ...classRange(fingerprint), from);
  const days = dates.map((date) => ({ date, count: 1 }));
  return weeksUntil(days, now, weeks).map(({ count }) => count);
}

/** What an entry of a class has; absent members do not narrow. */
interface Having {
  /** Stands in the heading, the prevention rule or the file's path, in any case. */
  readonly text?: string | undefined;
  /** Days, both included. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** The classes that have an entry with all of this, by the first 8 digits of their fingerprints. */
const classesWith = (core: Core, teamId: string, { text = "", from = "", to = "9999-12-31" }: Having): string[] =>
  pageRows(core.store).classesWith.all({ teamId, ...soughtText(text), from, to });

/** Files with level-2 headings that are no entry, those with the most first. */
const undatedFiles = (core: Core, teamId: string, repoKey?: string) =>
  pageRows(core.store).undated.all(teamId, repoKey ?? null);

/** The class of each entry, by its number: the first 8 digits of its fingerprint. */
const classesOfEntries = (core: Core, teamId: string): Map<number, string> =>
  new Map(
    pageRows(core.store)
      .classesOfEntries.all(teamId)
      .map(({ id, fingerprint }) => [id, fingerprint]),
  );

/** A day some days before now, YYYY-MM-DD. */
const dayBefore = (core: Core, days: number): string => isoInstant(core.clock.now() - days * DAY_MS).slice(0, 10);

export const errorCalendar = { entriesByDay, weeksOfClass, classesWith, undatedFiles, classesOfEntries, dayBefore };
