import { type Core, slot } from "../../core.ts";
import { visible } from "../../kit/escape-invisible.ts";
import { byVersion, pickLatest } from "../../kit/versions.ts";
import type { PackFile } from "./entry.ts";
import { judgePackPath } from "./paths.ts";
import { rows } from "./rows.ts";

/** Which version of a pack everybody is told to install. */

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
    .map((one) => ({ ...one, withheld: whyWithheld(core, one.id) }))
    .sort(byVersion);
  return pickLatest(all.filter(({ withheld }) => withheld === null)) ?? pickLatest(all);
}
