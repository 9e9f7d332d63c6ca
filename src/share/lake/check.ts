import type { Core } from "../../core.ts";
import { fail, invalid } from "../../kit/problem.ts";
import { cooperative } from "../../kit/yield.ts";
import { markAll } from "./flow.ts";
import { DEVICES, isOfShard } from "./paths.ts";
import type { Place } from "./place.ts";
import { placeOf } from "./places.ts";
import { rows } from "./rows.ts";

/** What lies in the lake, against what was put there. */
export interface LakeCheck {
  readonly objects: number;
  readonly bytes: number;
  /** That were put, and are not there or of another size. */
  readonly missing: readonly string[];
  /** That have names of this installation, but of which its database knows nothing: mostly written before an older backup was restored. */
  readonly unknown: readonly string[];
  /** What is wrong was mended: unknown ones were taken away, missing ones and all days come with the next turn. */
  readonly repaired: boolean;
}

const SLICE = 2_000;

/**
 * Compares the lake with what is noted of it. Objects of others are left alone.
 * @throws Problem where there is none; Error where it cannot be reached
 */
export async function checkLake(core: Core, repair: boolean): Promise<LakeCheck> {
  const place = placeOf(core);
  const known = rows(core.store).place.get();
  if (!place || known?.place !== place.name)
    fail(invalid, "there is no lake here: set RECKON_LAKE as the server has it, once it has begun to write to it");
  // The server may write and remove objects during the look. So missing is what was noted both before and after it, unknown what neither was.
  const before = await notedIn(core);
  const there = new Map<string, number>();
  for await (const { path, bytes } of place.list()) if (isOfShard(path, known.shard)) there.set(path, bytes);
  const after = await notedIn(core);
  const missing = [...before].filter(([path, { bytes, isWritten }]) => {
    const still = after.get(path);
    return isWritten && still?.isWritten && still.bytes === bytes && there.get(path) !== bytes;
  });
  const unknown = [...there.keys()].filter((path) => !before.has(path) && !after.has(path));
  const bytes = [...there.values()].reduce((sum, one) => sum + one, 0);
  const names = missing.map(([path]) => path);
  if (repair) await mend(core, place, names, unknown);
  return { objects: there.size, bytes, missing: names, unknown, repaired: repair };
}

interface Noted {
  readonly bytes: number;
  /** It was put, for certain. */
  readonly isWritten: boolean;
}

async function notedIn(core: Core): Promise<Map<string, Noted>> {
  const yieldNow = cooperative(core.clock);
  const found = new Map<string, Noted>();
  for (let after = ""; ; await yieldNow()) {
    const slice = rows(core.store).after.all(after, SLICE);
    for (const { path, bytes, writtenAt } of slice) found.set(path, { bytes, isWritten: writtenAt !== null });
    const last = slice.at(-1);
    if (!last || slice.length < SLICE) return found;
    after = last.path;
  }
}

async function mend(core: Core, place: Place, missing: readonly string[], unknown: readonly string[]): Promise<void> {
  // Numbers come again after a restore: by now the server may have put what goes by such a name.
  for (const path of unknown) if (!rows(core.store).object.get(path)) await place.remove(path);
  // Objects of the right size may still be outdated, from before a backup was restored. Only blocks never change, so all else is written anew.
  await markAll(core);
  await core.store.write(() => {
    const sql = rows(core.store);
    for (const { path } of sql.within.all(...DEVICES)) sql.unwritten.run(path);
    for (const path of missing) {
      const object = sql.object.get(path);
      sql.unwritten.run(path);
      // All from there on are put once more, which changes nothing of those that are there.
      if (typeof object?.blockId === "number") sql.setBlockBefore.run(object.blockId - 1);
    }
  });
}
