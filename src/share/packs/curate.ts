import type { Core } from "../../core.ts";
import { findTeamIds, teamsById } from "../../identity/teams/teams.ts";
import { conflict, fail, invalid, notFound } from "../../kit/problem.ts";
import { soughtText } from "../../kit/strings.ts";
import { type Actor, recordEvent } from "../../platform/audit/audit.ts";
import { type OwnPack, packRows, toEntry, toOwn } from "./list.ts";
import { rows, type StoredPack } from "./rows.ts";
import { readLine } from "./rules.ts";

/** What is decided about a pack: shown first, no longer so, taken away, or brought back. */
export type Curation =
  | { readonly act: "feature" | "unfeature" | "restore" }
  | { readonly act: "remove"; readonly reason: string };

const MAX_REASON = 300;

/**
 * Decides about a pack. A removed one is found and handed out no more; its name stays taken and what was published stays stored.
 * @param teamId whose pack it must be, for what a team may do itself; operators leave it out
 * @returns false when it was so already
 * @throws Problem for an unknown name or a missing reason
 */
export async function curatePack(
  core: Core,
  name: string,
  curation: Curation,
  by: Actor,
  teamId?: string,
): Promise<boolean> {
  const reason = curation.act === "remove" ? readLine(curation.reason, "the reason", MAX_REASON) : null;
  if (reason === "") fail(invalid, "say why the pack is removed: its page tells who looks for it");
  return core.store.write(() => {
    const stored = rows(core.store).stored.get(name);
    if (!stored || (teamId !== undefined && stored.teamId !== teamId))
      fail(notFound, `there is no pack named "${name}" (see: reckon pack list)`);
    const next = decide(stored, curation.act, reason, core.clock.now());
    if (!next) return false;
    rows(core.store).updatePack.run(next);
    recordEvent(core, by, {
      action: `pack.${DONE[curation.act]}`,
      teamId: stored.teamId,
      target: { kind: "pack", id: stored.id, label: name },
      ...(reason === null ? {} : { detail: { reason } }),
    });
    return true;
  });
}

const DONE = { feature: "featured", unfeature: "unfeatured", remove: "removed", restore: "restored" } as const;

/** The pack as the act leaves it; undefined when nothing changes. @throws Problem */
function decide(pack: StoredPack, act: Curation["act"], reason: string | null, now: number): StoredPack | undefined {
  const removed = pack.removedAt !== null;
  switch (act) {
    case "feature":
      if (removed) fail(conflict, `the pack "${pack.name}" was removed`);
      return pack.featuredAt === null ? { ...pack, featuredAt: now, updatedAt: now } : undefined;
    case "unfeature":
      return pack.featuredAt === null ? undefined : { ...pack, featuredAt: null, updatedAt: now };
    case "remove":
      return removed ? undefined : { ...pack, featuredAt: null, removedAt: now, removedReason: reason, updatedAt: now };
    case "restore":
      return removed ? { ...pack, removedAt: null, removedReason: null, updatedAt: now } : undefined;
  }
}

/**
 * Packs by name, removed ones too.
 * @param text part of a name, title or publisher
 * @param after the last name of the page before
 * @param teamId whose; every team's when null, for operators
 */
export function listAllPacks(
  core: Core,
  text: string,
  limit: number,
  after = "",
  teamId: string | null = null,
): { readonly rows: OwnPack[]; readonly next: string | undefined } {
  const publishers = JSON.stringify(text === "" ? [] : findTeamIds(core, text));
  const ids = rows(core.store).from.all({ after, teamId, ...soughtText(text), publishers, limit: limit + 1 });
  const page = packRows(core, ids.slice(0, limit)).map((row) => toOwn(core, row, toEntry(core, row)));
  return { rows: page, next: ids.length > limit ? page.at(-1)?.name : undefined };
}

export interface Publisher {
  readonly id: string;
  readonly name: string;
  readonly verifiedAt: number | null;
  readonly packs: number;
}

const MAX_PUBLISHERS = 1_000;

/** Teams that published something, by name. */
export function listPublishers(core: Core): Publisher[] {
  const counts = new Map(
    rows(core.store)
      .publishers.all()
      .map(({ teamId, packs }) => [teamId, packs]),
  );
  return teamsById(core, [...counts.keys()])
    .slice(0, MAX_PUBLISHERS)
    .map(({ id, name, verifiedAt }) => ({ id, name, verifiedAt, packs: counts.get(id) as number }));
}
