import type { Core } from "../../core.ts";
import { newId } from "../../kit/ids.ts";
import { conflict, fail, unprocessable } from "../../kit/problem.ts";
import { byVersion, compareVersions, isPrerelease, numbersOf } from "../../kit/versions.ts";
import { type Actor, COMMAND_LINE, recordEvent } from "../../platform/audit/audit.ts";
import { leaksText } from "./clean.ts";
import type { PackDraft } from "./draft.ts";
import { forgetPacks } from "./list.ts";
import { currentVersion } from "./offer.ts";
import { rows, type StoredPack } from "./rows.ts";
import { MAX_PACKS_OF_TEAM, MAX_VERSIONS } from "./rules.ts";

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
    versions.sort(byVersion).map((one) => one.version),
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
  const stable = earlier.find((one) => !isPrerelease(one));
  const sibling = earlier.find(
    (one) => isPrerelease(version) && isPrerelease(one) && numbersOf(one) === numbersOf(version),
  );
  if (stable !== undefined && compareVersions(version, stable) <= 0)
    fail(conflict, `version ${version} is not above ${stable}, the newest of "${name}"`);
  if (earlier.includes(version)) fail(conflict, `version ${version} of "${name}" is there already`);
  if (sibling !== undefined && compareVersions(version, sibling) < 0)
    fail(conflict, `version ${version} is not above ${sibling}, the newest pre-release of its number`);
}

/**
 * Publishes what was drafted, for everybody.
 * @throws Problem when it holds a certain secret (422), or somebody was faster (409)
 */
export async function publishPack(core: Core, draft: PackDraft, by: Actor = COMMAND_LINE): Promise<void> {
  if (draft.leaks.length > 0) fail(unprocessable, leaksText(draft.leaks));
  const { teamId, name, version, title, summary, license, readme, rules, archive, sha256 } = draft;
  const classes = JSON.stringify(draft.classes);
  await core.store.write(() => {
    const sql = rows(core.store);
    const now = core.clock.now();
    const stored = requirePublishable(core, teamId, name, version);
    const facts = { title, summary, license, tags: JSON.stringify(draft.tags), updatedAt: now };
    const pack: StoredPack = {
      ...(stored ?? {
        id: newId("pack", core.clock, core.random),
        ...{ teamId, name, createdAt: now, featuredAt: null, removedAt: null, removedReason: null },
      }),
      ...facts,
    };
    if (!stored) sql.insertPack.run(pack);
    const files = JSON.stringify(draft.files.map(({ source: _, ...file }) => file));
    const digest = Buffer.from(sha256, "hex");
    sql.insertVersion.run({
      ...{ packId: pack.id, version, readme, files, rules, classes, archive, sha256: digest, at: now, by: by.label },
    });
    // What is said of the pack is said of the version that is offered, which a pre-release is not while there is a stable one.
    if (stored && currentVersion(core, pack.id)?.version === version) sql.updatePack.run(pack);
    recordEvent(core, by, {
      action: "pack.published",
      teamId,
      target: { kind: "pack", id: pack.id, label: name },
      detail: { version, files: draft.files.length, replaced: draft.replaced.length, sha256 },
    });
    forgetPacks(core);
  });
}
