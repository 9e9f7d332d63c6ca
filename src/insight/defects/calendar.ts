import type { Core } from "../../core.ts";
import type { DefectKind } from "../../formats/brain-kinds.ts";
import { DAY_MS, isoDate } from "../../kit/clock.ts";
import { inHashSlices } from "../../kit/hash-slices.ts";
import { soughtText } from "../../kit/strings.ts";
import { classRange } from "./class-changes.ts";
import { errorDays } from "./daily.ts";
import { type DayOfEntries, pageRows } from "./page-rows.ts";
import { trendRange, weeksUntil } from "./trend.ts";

const FOREVER = "9999-12-31";

/** When entries of whatever kind are dated, and which headings have no date. As fresh as `entriesProjection`. */

/** What narrows entries; absent members do not. */
interface Of {
  readonly repoKey?: string | undefined;
  readonly kind?: DefectKind | undefined;
}

/** How many entries each day has, the oldest first. @param from YYYY-MM-DD, that day counts */
async function entriesByDay(core: Core, teamId: string, from: string, { repoKey, kind }: Of): Promise<DayOfEntries[]> {
  if (kind !== undefined) {
    const days = await errorDays(core, teamId, from, FOREVER, { kind, repoKey });
    return days.map(({ date, entries }) => ({ date, count: entries }));
  }
  return repoKey === undefined
    ? pageRows(core.store).days.all(teamId, from)
    : pageRows(core.store).daysOfRepo.all(teamId, from, repoKey);
}

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
const classesWith = (core: Core, teamId: string, { text = "", from = "", to = FOREVER }: Having): Promise<string[]> =>
  inHashSlices(core.clock, (slice) =>
    pageRows(core.store).classesWith.all({ teamId, ...soughtText(text), from, to, ...slice }),
  );

/** Files with level-2 headings that are no entry, those with the most first. */
const undatedFiles = (core: Core, teamId: string, repoKey?: string) =>
  pageRows(core.store).undated.all(teamId, repoKey ?? null);

/** The class of each of some entries that there are, of a kind where one is named, by its number: the first 8 digits of its fingerprint. */
const classesOfEntries = (core: Core, teamId: string, ids: readonly number[], kind?: DefectKind): Map<number, string> =>
  new Map(
    pageRows(core.store)
      .classesOfEntries.all(JSON.stringify(ids), teamId, kind ?? null)
      .map(({ id, fingerprint }) => [id, fingerprint]),
  );

/** Whether a team's errors files have an entry. */
const holdsErrors = (core: Core, teamId: string): boolean => pageRows(core.store).anyError.get(teamId) === 1;

/** A day some days before now, YYYY-MM-DD. */
const dayBefore = (core: Core, days: number): string => isoDate(core.clock.now() - days * DAY_MS);

export const errorCalendar = {
  entriesByDay,
  weeksOfClass,
  classesWith,
  undatedFiles,
  classesOfEntries,
  holdsErrors,
  dayBefore,
};
