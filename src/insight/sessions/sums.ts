import type { Core } from "../../core.ts";
import { withDeviceLabels } from "../../identity/devices/devices.ts";
import { narrowedTo, type SessionFilter, usdOfNano } from "./list.ts";
import { type DayRow, listRows, type RepoSums, type SumRow } from "./list-rows.ts";
import { NO_START } from "./rows.ts";

/** What some sessions come to. */
export interface SessionSums extends Omit<SumRow, "costNano" | "priced" | "unpriced"> {
  /** Dollars at list prices, of those that have one; null where none has. */
  readonly usd: number | null;
  /** Sessions with tokens that have no price. */
  readonly unpriced: number;
  /** Only the newest 100,000 were looked at. */
  readonly partial: boolean;
}

/** Sums of the sessions that a filter leaves; texts are not looked for. */
export function sumSessions(core: Core, teamId: string, filter: Omit<SessionFilter, "text"> = {}): SessionSums {
  const { sums, sumsFiltered, sumsOfRepo, sumsOfRepoFiltered } = listRows(core.store);
  const narrowed = narrowedTo(core, teamId, filter);
  const { teamId: _, repoKey, from, to, ...others } = narrowed;
  const filtered = Object.values(others).some((value) => value !== null);
  const [plain, narrow] = repoKey === null ? [sums, sumsFiltered] : [sumsOfRepo, sumsOfRepoFiltered];
  const { costNano, priced, ...rest } = (filtered ? narrow : plain).get(narrowed) as SumRow;
  const partial = from > (filter.from ?? NO_START);
  return { ...rest, usd: priced === 0 ? null : usdOfNano(costNano), partial };
}

/** What the sessions can be narrowed by. */
export interface SessionFacets {
  readonly repoKeys: readonly string[];
  readonly devices: readonly { readonly id: string; readonly label: string | null }[];
  readonly outcomes: readonly string[];
  readonly agents: readonly string[];
  readonly models: readonly string[];
  readonly branches: readonly string[];
}

const FACETED_SESSIONS = 2_000;
const MAX_VALUES = 100;

/**
 * The values that a team's newest 2,000 sessions hold, each list sorted and of at most 100, those of newer sessions first to be kept.
 * @param deviceIds only of sessions that these sent
 */
export function sessionFacets(core: Core, teamId: string, deviceIds?: readonly string[]): SessionFacets {
  const sent = deviceIds && new Set(deviceIds);
  const rows = listRows(core.store)
    .newest.all(teamId, FACETED_SESSIONS)
    .filter(({ deviceId }) => sent?.has(deviceId) ?? true);
  const distinct = (values: readonly string[]) =>
    [...new Set(values)]
      .filter((value) => value !== "")
      .slice(0, MAX_VALUES)
      .sort();
  return {
    repoKeys: [...new Set(rows.map((row) => row.repoKey))].slice(0, MAX_VALUES).sort(),
    devices: withDeviceLabels(
      core,
      distinct(rows.map((row) => row.deviceId)).map((deviceId) => ({ deviceId })),
    ).map(({ deviceId, deviceLabel }) => ({ id: deviceId, label: deviceLabel })),
    outcomes: distinct(rows.map((row) => row.outcome)),
    agents: distinct(rows.map((row) => row.agent)),
    models: distinct(rows.map((row) => row.model)),
    branches: distinct(rows.map((row) => row.branch)),
  };
}

/** A session as its agent named it. */
export interface NamedSession {
  /** Undefined where it is known only by what it used. */
  readonly id: number | undefined;
  readonly title: string | null;
}

/** How a device's session is called, by the name that its agent gave it. */
export function nameSession(core: Core, deviceId: string, externalId: string): NamedSession | undefined {
  const found = listRows(core.store).named.get(deviceId, externalId);
  return found && { id: found.id ?? undefined, title: found.title };
}

/** Repositories that are listed at most. */
const MAX_REPOS = 1_000;

/** What the sessions of each repository come to that began at an instant or later; a thousand repositories at most. */
export const sumRepos = (core: Core, teamId: string, from: number): RepoSums[] =>
  listRows(core.store).repos.all(teamId, from, MAX_REPOS);

/** How many of a repository's sessions began on each day of some and what they came to; days without any are absent. */
export const repoDays = (core: Core, teamId: string, repoKey: string, from: number, to: number): DayRow[] =>
  listRows(core.store).days.all({ teamId, repoKey, from, to });

/** What a session is called: by what it was asked, or else by the id that its agent gave it; undefined where it is not known. */
export const sessionTitle = (core: Core, id: number): string | undefined => listRows(core.store).title.get(id);
