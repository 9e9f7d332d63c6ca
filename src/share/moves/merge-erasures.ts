import { conflict, fail } from "../../kit/problem.ts";
import type { Store } from "../../platform/store/store.ts";
import { setErasureTarget, sharedErasures } from "./erasure-rows.ts";

/** What an erasure is of, as far as it is looked at. */
interface ErasedTarget {
  readonly personId?: string;
  readonly teamIds?: readonly string[];
  readonly deviceIds?: readonly string[];
  readonly namedOn?: readonly string[];
}

const LISTS = ["teamIds", "deviceIds", "namedOn"] as const;

/**
 * Row changes, before a team's erasures come. One of them may be on record here: it reached another team, too, which came before, or this
 * one was here until a backup was restored. It is of what both say then.
 * @throws Problem where they are of different things
 */
export function mergeErasures(db: Store["db"]): void {
  for (const { id, here, there } of sharedErasures(db)) {
    const [known, coming] = [JSON.parse(here) as ErasedTarget, JSON.parse(there) as ErasedTarget];
    if (restOf(known) !== restOf(coming))
      fail(conflict, `The erasure ${id} is on record here with another target. Nothing was changed.`);
    const both = LISTS.filter((name) => known[name] ?? coming[name]).map((name) => [
      name,
      [...new Set([...(known[name] ?? []), ...(coming[name] ?? [])])],
    ]);
    setErasureTarget(db, id, JSON.stringify({ ...known, ...Object.fromEntries(both) }));
  }
}

/** What has to be the same. Somebody may have another account here than there. */
function restOf({ personId: _, teamIds: __, deviceIds: ___, namedOn: ____, ...rest }: ErasedTarget): string {
  return JSON.stringify(rest);
}
