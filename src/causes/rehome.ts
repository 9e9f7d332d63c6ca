import type { Core } from "../core.ts";
import type { Defect } from "../defects/defects.ts";
import { entryText } from "./keys.ts";
import { type LinkRow, linkRows } from "./link-rows.ts";

/**
 * Headings change: a marker goes when a defect is mended. A link whose heading is gone moves to the one entry of the same
 * file, date and fingerprint that has no links; one that nobody judged goes where there is none. A person's word stays, should
 * the entry come back.
 */
export async function rehome(core: Core, teamId: string, repoKey: string, defects: readonly Defect[]): Promise<void> {
  const sql = linkRows(core.store);
  const held = Map.groupBy(sql.ofRepo.all(teamId, repoKey), entryText);
  const there = new Set(defects.map(entryText));
  const changes: (() => unknown)[] = [];
  const taken = new Set<string>();
  for (const [key, links] of held) {
    const [link] = links;
    if (there.has(key) || !link) continue;
    const homes = defects.filter((defect) => isHome(defect, link) && !held.has(entryText(defect)));
    const [home] = homes;
    if (home && homes.length === 1 && !taken.has(entryText(home))) {
      taken.add(entryText(home));
      for (const one of links) changes.push(() => move(core, one, home));
    } else
      for (const { id, origin, verdict } of links)
        if (origin === "computed" && verdict === null) changes.push(() => sql.drop.run(id));
  }
  if (changes.length === 0) return;
  await core.store.write(() => {
    for (const change of changes) change();
  });
}

function isHome({ path, date, fingerprint }: Defect, link: LinkRow): boolean {
  return path === link.path && date === link.date && fingerprint.equals(link.fingerprint);
}

function move(core: Core, { id }: LinkRow, { heading, ordinal, date, fingerprint }: Defect): void {
  linkRows(core.store).move.run(heading, ordinal, date, fingerprint, core.clock.now(), id);
}
