import type { Core } from "../../core.ts";
import { DAY_MS, isoInstant } from "../../kit/clock.ts";
import { rows } from "./rows.ts";

/** A team, and the instant from which it knew certain prevention rules. */
export interface Learnt {
  readonly teamId: string;
  readonly at: number;
}

/** Nothing is said of a class before it had so long to come back. */
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
  const wanted = JSON.stringify(fingerprints);
  return observed.reduce(
    (sum, { teamId, at }) => sum + (rows(core.store).ended.get(wanted, teamId, isoInstant(at).slice(0, 10)) ?? 0),
    0,
  );
}
