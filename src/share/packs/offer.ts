import { type Core, slot } from "../../core.ts";
import { visible } from "../../kit/escape-invisible.ts";
import { conflict, fail } from "../../kit/problem.ts";
import { byVersion, compareVersions, isPrerelease, numbersOf, pickLatest } from "../../kit/versions.ts";
import type { PackFile } from "./entry.ts";
import { judgePackPath } from "./paths.ts";
import { rows, type StoredPack } from "./rows.ts";
import { MAX_PACKS_OF_TEAM, MAX_VERSIONS } from "./rules.ts";

/** Which version of a pack everybody is told to install, and which may follow. */

export interface Current {
  readonly id: number;
  readonly version: string;
  /** Why nobody gets it, as `whyWithheld` has it; null when it is offered. */
  readonly withheld: string | null;
}

const judged = slot(() => new Map<number, string | null>());

/**
 * Why a published version is not handed out: it was let through before packs were text files only. A sentence without its end;
 * null when it is handed out. What a version holds never changes, so each is looked at once.
 */
export function whyWithheld(core: Core, versionId: number): string | null {
  const known = judged(core).get(versionId);
  if (known !== undefined) return known;
  const files = JSON.parse(rows(core.store).contents.get(versionId)?.files ?? "[]") as PackFile[];
  const [wrong] = files.flatMap(({ path }) => {
    const reason = judgePackPath(path);
    return reason === undefined ? [] : [`it holds the file "${visible(path)}", which ${reason}`];
  });
  judged(core).set(versionId, wrong ?? null);
  return wrong ?? null;
}

/**
 * A pack's newest stable version, or its newest pre-release where there is nothing else, of those that are handed out. When none
 * is, the one that would be, for its publisher and the operators.
 */
export function currentVersion(core: Core, packId: string): Current | undefined {
  const all = rows(core.store)
    .versionIds.all(packId)
    .map((row) => ({ ...row, withheld: whyWithheld(core, row.id) }))
    .sort(byVersion);
  return pickLatest(all.filter(({ withheld }) => withheld === null)) ?? pickLatest(all);
}

/**
 * Whether a team may publish this version of a pack of this name now.
 * @returns the pack as stored; undefined when it would be a new one
 * @throws Problem
 */
export function requirePublishable(core: Core, teamId: string, name: string, version: string): StoredPack | undefined {
  const sql = rows(core.store);
  const stored = sql.stored.get(name);
  if (!stored) {
    if ((sql.countOfTeam.get(teamId) ?? 0) >= MAX_PACKS_OF_TEAM)
      fail(conflict, `a team has at most ${MAX_PACKS_OF_TEAM} packs`);
    return undefined;
  }
  // Says nothing of whose it is: the name may belong to a team that is not known here.
  if (stored.teamId !== teamId) fail(conflict, `the name "${name}" is taken; choose another`);
  if (stored.removedAt !== null)
    fail(conflict, `the pack "${name}" was removed (${stored.removedReason}), so it takes no new version`);
  const versions = sql.versionIds.all(stored.id);
  requireNext(
    name,
    version,
    versions.sort(byVersion).map((row) => row.version),
  );
  if (versions.length >= MAX_VERSIONS) fail(conflict, `a pack has at most ${MAX_VERSIONS} versions`);
  return stored;
}

/**
 * A version follows the newest stable one, so that a stable line can be mended while pre-releases of the next are out; and a
 * pre-release the others of its number.
 * @param earlier newest first
 */
function requireNext(name: string, version: string, earlier: readonly string[]): void {
  const stable = earlier.find((number) => !isPrerelease(number));
  const sibling = earlier.find(
    (number) => isPrerelease(version) && isPrerelease(number) && numbersOf(number) === numbersOf(version),
  );
  if (stable !== undefined && compareVersions(version, stable) <= 0)
    fail(conflict, `version ${version} is not above ${stable}, the newest of "${name}"`);
  if (earlier.includes(version)) fail(conflict, `version ${version} of "${name}" is there already`);
  if (sibling !== undefined && compareVersions(version, sibling) < 0)
    fail(conflict, `version ${version} is not above ${sibling}, the newest pre-release of its number`);
}
