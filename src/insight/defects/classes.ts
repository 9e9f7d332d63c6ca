import type { Core } from "../../core.ts";
import { onWire } from "../../formats/errors/fingerprint.ts";
import { DAY_MS, isoDate } from "../../kit/clock.ts";
import { inHashSlices } from "../../kit/hash-slices.ts";
import { dailyRows } from "./daily-rows.ts";
import { readErrors } from "./of-errors.ts";
import { type ClassRow, rows } from "./rows.ts";

/** Entries of errors files that have one fingerprint. */
export interface RecurringClass {
  /** First 8 hexadecimal digits. */
  readonly fingerprint: string;
  readonly occurrences: number;
  /** Days, YYYY-MM-DD. */
  readonly firstSeen: string;
  readonly lastSeen: string;
  /** Of its newest three entries, newest first. */
  readonly titles: readonly string[];
  /** What its newest entry says must be done; null where titles made the class. */
  readonly rule: string | null;
}

const MAX_CLASSES = 100;
const TITLES = 3;

/**
 * Classes with more than one entry in the errors files of a repository, or of all a team's repositories together, with no
 * window of time: most occurrences first, of equal ones the one seen last. At most 100.
 */
export async function recurringClasses(
  core: Core,
  teamId: string,
  repoKey?: string,
  most = MAX_CLASSES,
): Promise<RecurringClass[]> {
  const found = await readErrors(core, "classes", { teamId, repoKey, most });
  return found
    .sort(mostFirst)
    .slice(0, most)
    .map((one) => withTitles(core, teamId, one, repoKey));
}

const mostFirst = (a: ClassRow, b: ClassRow): number =>
  b.occurrences - a.occurrences ||
  (a.lastSeen === b.lastSeen ? Buffer.compare(a.fingerprint, b.fingerprint) : a.lastSeen < b.lastSeen ? 1 : -1);

function withTitles(core: Core, teamId: string, { fingerprint, ...rest }: ClassRow, repoKey?: string): RecurringClass {
  const newest = rows(core.store).ofClass.all(teamId, fingerprint, repoKey ?? null, TITLES);
  return {
    fingerprint: onWire(fingerprint),
    ...rest,
    titles: newest.map(({ title }) => title),
    rule: newest[0]?.rule ?? null,
  };
}

/**
 * Classes of a team that had more than one entry by the end of some days, and one in them: how many, and some of them, in the
 * order of `recurringClasses`.
 * @param from day, YYYY-MM-DD
 * @param to the last day
 */
export async function recurredWithin(
  core: Core,
  teamId: string,
  { from, to }: { readonly from: string; readonly to: string },
  most: number,
): Promise<{ readonly count: number; readonly classes: RecurringClass[] }> {
  const found = await inHashSlices(core.clock, (slice) =>
    dailyRows(core.store).recurred.all({ teamId, kind: "error", repoKey: null, from, to, ...slice }),
  );
  return {
    count: found.length,
    classes: found
      .sort(mostFirst)
      .slice(0, most)
      .map((one) => withTitles(core, teamId, one)),
  };
}

/** A team, and the instant from which it knew certain prevention rules. */
export interface Learnt {
  readonly teamId: string;
  readonly at: number;
}

/** A class is judged only once it had so long to come back. */
const OBSERVED_MS = 28 * DAY_MS;
/** Teams looked at, the earliest first. */
const MAX_TEAMS = 100;

/**
 * How many recurring classes ended with a rule: those of the given fingerprints that a team had recorded at least twice by the day
 * it learnt the rules, and not once in the four weeks or more since. Each team's counts for itself.
 * @param fingerprints in hexadecimal digits, whole
 * @returns undefined when no team has known the rules for four weeks: then nothing can be said
 */
export function countEndedClasses(
  core: Core,
  teams: readonly Learnt[],
  fingerprints: readonly string[],
): number | undefined {
  const now = core.clock.now();
  const observed = teams
    .filter(({ at }) => now - at >= OBSERVED_MS)
    .toSorted((a, b) => a.at - b.at)
    .slice(0, MAX_TEAMS);
  if (observed.length === 0 || fingerprints.length === 0) return undefined;
  const sql = rows(core.store);
  const ofRules = JSON.stringify(fingerprints);
  return observed.reduce((sum, { teamId, at }) => sum + (sql.ended.get(ofRules, teamId, isoDate(at)) ?? 0), 0);
}
