import type { Core } from "../../core.ts";
import { onWire } from "./fingerprint.ts";
import { rows } from "./rows.ts";

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
export function recurringClasses(core: Core, teamId: string, repoKey?: string, most = MAX_CLASSES): RecurringClass[] {
  const sql = rows(core.store);
  const found =
    repoKey === undefined ? sql.classesOfTeam.all(teamId, most) : sql.classesOfRepo.all(teamId, repoKey, most);
  return found.map(({ fingerprint, ...rest }) => {
    const newest = sql.ofClass.all(teamId, fingerprint, repoKey ?? null, TITLES);
    return {
      fingerprint: onWire(fingerprint),
      ...rest,
      titles: newest.map(({ title }) => title),
      rule: newest[0]?.rule ?? null,
    };
  });
}
