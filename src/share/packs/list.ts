import { type Core, slot } from "../../core.ts";
import { countEndedClasses } from "../../insight/defects/defects.ts";
import { DAY_MS, MINUTE_MS } from "../../kit/clock.ts";
import type { FoundPacks, Pack, PackEntry, PackFile } from "./entry.ts";
import { currentVersion, whyWithheld } from "./offer.ts";
import { byRank, rankOf } from "./rank.ts";
import { type PackRow, rows } from "./rows.ts";

/** Entries of one reply at most. */
export const MAX_ENTRIES = 1_000;
const RECENT_MS = 14 * DAY_MS;
/** Ranks move with the days: what is remembered is not used longer than this. */
const REMEMBERED_MS = MINUTE_MS;
const MAX_QUERY_CHARS = 200;

const isOffered = (core: Core) => (row: PackRow) => whyWithheld(core, row.versionId) === null;

/** Packs by the version that is current of each, in the order given. */
export function packRows(core: Core, ids: readonly string[]): PackRow[] {
  const versionIds = ids.flatMap((id) => currentVersion(core, id)?.id ?? []);
  const since = core.clock.now() - RECENT_MS;
  return rows(core.store).packs.all({ since, versionIds: JSON.stringify(versionIds) });
}

export function toEntry(core: Core, row: PackRow): PackEntry {
  const now = core.clock.now();
  const facts = {
    verified: row.verifiedAt !== null,
    createdAt: row.createdAt,
    publishedAt: row.publishedAt,
    installs: row.outsideInstalls,
    recurrencesRemoved: recurrencesRemoved(core, row),
  };
  const { id, name, title, summary, license, version, rules, files, bytes, installs, recentInstalls } = row;
  return {
    ...{ id, name, title, summary, license, version, rules, files, bytes, installs, recentInstalls },
    tags: JSON.parse(row.tags) as string[],
    publisher: { name: row.publisher, verified: row.verifiedAt !== null },
    featured: row.featuredAt !== null,
    sha256: row.sha256.toString("hex"),
    createdAt: row.createdAt,
    publishedAt: row.publishedAt,
    ...rankOf(facts, now),
  };
}

/** What other teams' errors files tell since they installed the pack; null while that is not known. */
function recurrencesRemoved(core: Core, { id, teamId, classes, outsideInstalls }: PackRow): number | null {
  if (outsideInstalls === 0 || classes === "[]") return null;
  return countEndedClasses(core, rows(core.store).learnt.all(id, teamId), JSON.parse(classes) as string[]) ?? null;
}

interface Remembered {
  /** All published packs, best first; undefined once something changed. */
  entries: readonly PackEntry[] | undefined;
  at: number;
  outsideVersion: number;
}

const remembered = slot((core): Remembered => {
  const held: Remembered = { entries: undefined, at: 0, outsideVersion: -1 };
  core.store.onChange(["teams", "packs", "pack_versions"], () => {
    held.entries = undefined;
  });
  return held;
});

/** Makes the next reader look again; call where rows are inserted, which the store does not tell of. */
export function forgetPacks(core: Core): void {
  remembered(core).entries = undefined;
}

/** Every published pack, best first. Remembered until something changes, here or in another process. */
export function publishedPacks(core: Core): readonly PackEntry[] {
  const held = remembered(core);
  const now = core.clock.now();
  const version = core.store.outsideVersion();
  const stale = version !== held.outsideVersion || now < held.at || now - held.at >= REMEMBERED_MS;
  if (!held.entries || stale) {
    held.entries = packRows(core, rows(core.store).published.all())
      .filter(isOffered(core))
      .map((row) => toEntry(core, row))
      .sort(byRank);
    held.at = now;
    held.outsideVersion = version;
  }
  return held.entries;
}

export interface PackQuery {
  /** Words; each must stand in the name, title, summary, tags or publisher. */
  readonly q?: string | undefined;
  /** One tag, exactly. */
  readonly tag?: string | undefined;
  /** 1 to 1,000, which is the default. */
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

/** The published packs that match, by rank. */
export function listPacks(core: Core, { q = "", tag, limit = MAX_ENTRIES, offset = 0 }: PackQuery = {}): FoundPacks {
  const words = q.slice(0, MAX_QUERY_CHARS).toLowerCase().split(/\s+/).filter(Boolean);
  const wanted = tag?.trim().toLowerCase() || undefined;
  const all = publishedPacks(core);
  const found =
    words.length === 0 && wanted === undefined
      ? all
      : all.filter((one) => (wanted === undefined || one.tags.includes(wanted)) && holds(one, words));
  return {
    entries: found.slice(offset, offset + Math.min(Math.max(limit, 1), MAX_ENTRIES)),
    total: found.length,
  };
}

function holds({ name, title, summary, tags, publisher }: PackEntry, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const text = [name, title, summary, ...tags, publisher.name].join("\n").toLowerCase();
  return words.every((word) => text.includes(word));
}

/** A published pack by name; undefined when there is none, it was removed (see `whyRemoved`) or is withheld (see `whyNotOffered`). */
export function getPack(core: Core, name: string): Pack | undefined {
  const row = rowByName(core, name);
  return row && row.removedAt === null && isOffered(core)(row) ? toPack(core, row) : undefined;
}

/** Why there is no pack of that name any more; undefined when there never was one, or it is there. */
export function whyRemoved(core: Core, name: string): { readonly at: number; readonly reason: string } | undefined {
  const row = rows(core.store).stored.get(name);
  return row && row.removedAt !== null ? { at: row.removedAt, reason: row.removedReason ?? "" } : undefined;
}

/** Why a pack, or one version of it, is not handed out though nobody removed it; undefined when it is, or there is none. */
export function whyNotOffered(core: Core, name: string, version?: string): string | undefined {
  const sql = rows(core.store);
  const stored = sql.stored.get(name);
  if (!stored) return undefined;
  const found =
    version === undefined
      ? currentVersion(core, stored.id)
      : sql.versionIds.all(stored.id).find((one) => one.version === version);
  return (found && whyWithheld(core, found.id)) ?? undefined;
}

/** Any team's pack of that name, removed or not. */
export function rowByName(core: Core, name: string): PackRow | undefined {
  const stored = rows(core.store).stored.get(name);
  return stored && packRows(core, [stored.id])[0];
}

/** A pack with what only its publisher and the operators are told. */
export type OwnPack<Shown extends PackEntry = PackEntry> = Shown & {
  readonly teamId: string;
  readonly removed: { readonly at: number; readonly reason: string } | null;
  /** Why nobody else is shown it, continuing "It is not handed out: "; null when it is offered. */
  readonly withheld: string | null;
};

export function toOwn<Shown extends PackEntry>(core: Core, row: PackRow, shown: Shown): OwnPack<Shown> {
  const removed = row.removedAt === null ? null : { at: row.removedAt, reason: row.removedReason ?? "" };
  return { ...shown, teamId: row.teamId, removed, withheld: whyWithheld(core, row.versionId) };
}

/** A team's packs, newest first, removed ones too. */
export function listTeamPacks(core: Core, teamId: string): OwnPack[] {
  return packRows(core, rows(core.store).ofTeam.all(teamId)).map((row) => toOwn(core, row, toEntry(core, row)));
}

/** One of a team's packs, removed or not; undefined when the team has none of that name. */
export function getTeamPack(core: Core, teamId: string, name: string): OwnPack<Pack> | undefined {
  const id = rows(core.store).ofTeamByName.get(teamId, name);
  const [row] = id === undefined ? [] : packRows(core, [id]);
  return row && toOwn(core, row, toPack(core, row));
}

function toPack(core: Core, row: PackRow): Pack {
  const sql = rows(core.store);
  const current = sql.contents.get(row.versionId);
  return {
    ...toEntry(core, row),
    readme: current?.readme ?? "",
    contents: JSON.parse(current?.files ?? "[]") as PackFile[],
    versions: sql.versions.all(row.id).map(({ id, sha256, ...one }) => ({
      ...one,
      sha256: sha256.toString("hex"),
      withheld: whyWithheld(core, id),
    })),
  };
}
