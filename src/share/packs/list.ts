import { type Core, slot } from "../../core.ts";
import { deviceIdsOf } from "../../identity/devices/devices.ts";
import { type Team, teamsById } from "../../identity/teams/teams.ts";
import { DAY_MS, MINUTE_MS } from "../../kit/clock.ts";
import type { FoundPacks, Pack, PackEntry, PackFile } from "./entry.ts";
import { currentVersion, whyWithheld } from "./offer.ts";
import { byRank, rankOf } from "./rank.ts";
import { knownRemoved } from "./recurrences.ts";
import { type PackRow, rows } from "./rows.ts";

/** Entries of one reply at most. */
export const MAX_ENTRIES = 1_000;
const RECENT_MS = 14 * DAY_MS;
/** Ranks move with the days: what is remembered is not used longer than this. */
const REMEMBERED_MS = MINUTE_MS;
const MAX_QUERY_CHARS = 200;
/** For so long errors files are read for the ranks of packs that nobody has looked at yet. */
const MAX_RANKING_MS = 20;

const isOffered = (core: Core) => (row: PackRow) => whyWithheld(core, row.versionId) === null;

interface RankedRow extends PackRow {
  readonly publisher: Team;
  /** By devices of other teams than the publisher's. */
  readonly outsideInstalls: number;
}

/** Packs by the version that is current of each, in the order given. */
export function packRows(core: Core, ids: readonly string[]): RankedRow[] {
  const versionIds = ids.flatMap((id) => currentVersion(core, id)?.id ?? []);
  const since = core.clock.now() - RECENT_MS;
  const { packs } = rows(core.store);
  const current = packs.all({ since, versionIds: JSON.stringify(versionIds) });
  const byTeam = Map.groupBy(current, ({ teamId }) => teamId);
  const publishers = new Map(
    teamsById(core, [...byTeam.keys()]).map((team) => [
      team.id,
      { team, own: ownInstalls(core, team.id, byTeam.get(team.id) ?? []) },
    ]),
  );
  return current.flatMap((row) => {
    const publisher = publishers.get(row.teamId);
    if (!publisher) return [];
    return [{ ...row, publisher: publisher.team, outsideInstalls: row.installs - (publisher.own.get(row.id) ?? 0) }];
  });
}

/** How often devices of a team installed each of its packs. */
function ownInstalls(core: Core, teamId: string, packs: readonly PackRow[]): ReadonlyMap<string, number> {
  const installed = packs.flatMap(({ id, installs }) => (installs > 0 ? [id] : []));
  if (installed.length === 0) return new Map();
  const found = rows(core.store).installsBy.all({
    packs: JSON.stringify(installed),
    devices: JSON.stringify(deviceIdsOf(core, { teamId })),
  });
  return new Map(found.map(({ id, installs }) => [id, installs]));
}

/** @param until when nothing more is read for its rank, see `knownRemoved` */
export function toEntry(core: Core, row: RankedRow, until?: number): PackEntry {
  const now = core.clock.now();
  const verified = row.publisher.verifiedAt !== null;
  const facts = {
    verified,
    createdAt: row.createdAt,
    publishedAt: row.publishedAt,
    installs: row.outsideInstalls,
    recurrencesRemoved: knownRemoved(core, row, until),
  };
  const { id, name, title, summary, license, version, rules, files, bytes, installs, recentInstalls } = row;
  const plain = { id, name, title, summary, license, version, rules, files, bytes, installs, recentInstalls };
  return {
    ...plain,
    tags: JSON.parse(row.tags) as string[],
    publisher: { name: row.publisher.name, verified },
    featured: row.featuredAt !== null,
    sha256: row.sha256.toString("hex"),
    createdAt: row.createdAt,
    publishedAt: row.publishedAt,
    ...rankOf(facts, now),
  };
}

interface Remembered {
  /** All published packs, best first; undefined once something changed. */
  entries: readonly PackEntry[] | undefined;
  at: number;
  outsideVersion: number;
}

const remembered = slot((core): Remembered => {
  const cache: Remembered = { entries: undefined, at: 0, outsideVersion: -1 };
  core.store.onChange(["teams", "packs", "pack_versions"], () => {
    cache.entries = undefined;
  });
  return cache;
});

/** Makes the next reader look again; call where rows are inserted, which the store does not tell of. */
export function forgetPacks(core: Core): void {
  remembered(core).entries = undefined;
}

/** Every published pack, best first. Remembered until something changes, here or in another process. */
export function publishedPacks(core: Core): readonly PackEntry[] {
  const cache = remembered(core);
  const now = core.clock.now();
  const version = core.store.outsideVersion();
  const stale = version !== cache.outsideVersion || now < cache.at || now - cache.at >= REMEMBERED_MS;
  if (!cache.entries || stale) {
    const until = core.clock.monotonic() + MAX_RANKING_MS;
    cache.entries = packRows(core, rows(core.store).published.all())
      .filter(isOffered(core))
      .map((row) => toEntry(core, row, until))
      .sort(byRank);
    cache.at = now;
    cache.outsideVersion = version;
  }
  return cache.entries;
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
  const slug = tag?.trim().toLowerCase() || undefined;
  const all = publishedPacks(core);
  const matching =
    words.length === 0 && slug === undefined
      ? all
      : all.filter((pack) => (slug === undefined || pack.tags.includes(slug)) && holds(pack, words));
  return {
    entries: matching.slice(offset, offset + Math.min(Math.max(limit, 1), MAX_ENTRIES)),
    total: matching.length,
  };
}

function holds({ name, title, summary, tags, publisher }: PackEntry, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const text = [name, title, summary, ...tags, publisher.name].join("\n").toLowerCase();
  return words.every((word) => text.includes(word));
}

/** A published pack by name; undefined when there is none, it was removed or is withheld (see `whyNotOffered`). */
export function getPack(core: Core, name: string): Pack | undefined {
  const row = rowByName(core, name);
  return row && row.removedAt === null && isOffered(core)(row) ? toPack(core, row) : undefined;
}

/** Why a pack, or one version of it, is not handed out: it was removed, or is withheld. Undefined when it is, or there is none. */
export function whyNotOffered(
  core: Core,
  name: string,
  version?: string,
): { readonly removedAt: number | null; readonly reason: string } | undefined {
  const sql = rows(core.store);
  const stored = sql.stored.get(name);
  if (!stored) return undefined;
  if (stored.removedAt !== null) return { removedAt: stored.removedAt, reason: stored.removedReason ?? "" };
  const offered =
    version === undefined
      ? currentVersion(core, stored.id)
      : sql.versionIds.all(stored.id).find((row) => row.version === version);
  const reason = offered && whyWithheld(core, offered.id);
  return reason ? { removedAt: null, reason } : undefined;
}

/** Any team's pack of that name, removed or not. */
function rowByName(core: Core, name: string): RankedRow | undefined {
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

export function toOwn<Shown extends PackEntry>(core: Core, row: RankedRow, shown: Shown): OwnPack<Shown> {
  const removed = row.removedAt === null ? null : { at: row.removedAt, reason: row.removedReason ?? "" };
  return { ...shown, teamId: row.teamId, removed, withheld: whyWithheld(core, row.versionId) };
}

/** A team's packs, newest first, removed ones too. */
export function listTeamPacks(core: Core, teamId: string): OwnPack[] {
  return packRows(core, rows(core.store).ofTeam.all(teamId)).map((row) => toOwn(core, row, toEntry(core, row)));
}

/** A pack, removed or not; undefined when there is none of that name. @param teamId whose it must be; anybody's when null */
export function findOwnPack(core: Core, teamId: string | null, name: string): OwnPack<Pack> | undefined {
  const row = rowByName(core, name);
  return row && (teamId === null || row.teamId === teamId) ? toOwn(core, row, toPack(core, row)) : undefined;
}

function toPack(core: Core, row: RankedRow): Pack {
  const sql = rows(core.store);
  const current = sql.contents.get(row.versionId);
  return {
    ...toEntry(core, row),
    readme: current?.readme ?? "",
    contents: JSON.parse(current?.files ?? "[]") as PackFile[],
    versions: sql.versions.all(row.id).map(({ id, sha256, ...version }) => ({
      ...version,
      sha256: sha256.toString("hex"),
      withheld: whyWithheld(core, id),
    })),
  };
}
