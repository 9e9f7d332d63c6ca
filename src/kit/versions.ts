// One by one: the package as a whole brings ranges and their parser along, thrice the size.
import compare from "semver/functions/compare.js";
import inc from "semver/functions/inc.js";
import prerelease from "semver/functions/prerelease.js";
import valid from "semver/functions/valid.js";

/** Versions by semver.org 2.0.0, the same for everything that is handed out. */

export interface Versioned {
  readonly version: string;
}

/** Whether a text is a version in the form that is stored: nothing around it, and no build metadata, which orders nothing. */
export const isVersion = (text: string): boolean => valid(text) === text;

/** By precedence (section 11): negative when `a` comes before `b`. */
export const compareVersions = (a: string, b: string): number => compare(a, b);

export const isPrerelease = (version: string): boolean => prerelease(version) !== null;

/** A version's three numbers, without what makes it a pre-release. */
export const numbersOf = (version: string): string => version.replace(/-.*$/, "");

/** The usual next version: the next minor one, or the release that a pre-release leads to. */
export const nextMinor = (version: string): string => inc(version, "minor") ?? version;

/** Newest first. */
export const byVersion = (a: Versioned, b: Versioned): number => compare(b.version, a.version);

/**
 * The version that everybody should have: the newest stable one; a pre-release only when there is no other.
 * @param newestFirst in the order of `byVersion`
 */
export function pickLatest<V extends Versioned>(newestFirst: readonly V[]): V | undefined {
  return newestFirst.find(({ version }) => !isPrerelease(version)) ?? newestFirst[0];
}
