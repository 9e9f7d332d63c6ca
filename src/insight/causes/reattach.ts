import type { Core } from "../../core.ts";
import { type Defect, newestEntryId } from "../defects/defects.ts";
import { type LinkRow, linkRows } from "./link-rows.ts";
import { homesOf, isSaid } from "./rematch.ts";

/**
 * Links go with their entries, whose headings, rules and files change while they stay the same entries. Where an entry is gone,
 * what was computed of it goes too; what people said of it is kept out of sight, should it come back.
 * @param defects all of the repository
 */
export async function rehome(core: Core, teamId: string, repoKey: string, defects: readonly Defect[]): Promise<void> {
  const sql = linkRows(core.store);
  const links = sql.ofRepo.all(teamId, repoKey);
  if (links.length === 0) return;
  const homes = homesOf(links, defects);
  const first: (() => unknown)[] = rivalsOf(links, homes).map(
    ({ id }) =>
      () =>
        sql.drop.run(id),
  );
  const then: (() => unknown)[] = [];
  for (const link of links) {
    const home = homes.get(link);
    if (home ? isAt(link, home) : link.goneAfter !== null) continue;
    if (!home && !isSaid(link)) {
      first.push(() => sql.drop.run(link.id));
      continue;
    }
    // Entries may change places with each other, and no two links of a session may have one at any moment.
    const away = -link.entryId;
    if (!home || link.ordinal >= 0) first.push(() => sql.park.run(away, home ? null : newestEntryId(core), link.id));
    if (home) then.push(() => move(core, link, home));
  }
  if (first.length + then.length === 0) return;
  await core.store.write(() => {
    for (const change of [...first, ...then]) change();
  });
}

/** Links that were computed of an entry before people's words of the same sessions came back to it. */
function rivalsOf(links: readonly LinkRow[], homes: ReadonlyMap<LinkRow, Defect>): LinkRow[] {
  const keyOf = ({ sessionId }: LinkRow, { id }: Defect) => `${id} ${sessionId}`;
  const said = new Set<string>();
  for (const [link, home] of homes)
    if (link.origin === "computed" && isSaid(link) && link.entryId !== home.id) said.add(keyOf(link, home));
  if (said.size === 0) return [];
  return links.filter((link) => {
    const home = homes.get(link);
    return home !== undefined && !isSaid(link) && said.has(keyOf(link, home));
  });
}

function isAt(link: LinkRow, { id, path, heading, ordinal, date, fingerprint }: Defect): boolean {
  const known = link.entryId === id && link.goneAfter === null;
  const there = link.path === path && link.heading === heading && link.ordinal === ordinal;
  return known && there && link.date === date && link.fingerprint.equals(fingerprint);
}

function move(core: Core, { id }: LinkRow, home: Defect): void {
  const { path, heading, ordinal, date, fingerprint, id: entryId } = home;
  linkRows(core.store).move.run({
    ...{ id, path, heading, ordinal, date, fingerprint, entryId },
    updatedAt: core.clock.now(),
  });
}
