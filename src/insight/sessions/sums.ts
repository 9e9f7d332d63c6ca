import type { Core } from "../../core.ts";
import { withDeviceLabels } from "../../identity/devices/devices.ts";
import { DAY_MS } from "../../kit/clock.ts";
import { cooperative } from "../../kit/yield.ts";
import { sessionTwins } from "../../record/traces/traces.ts";
import { firstStart, narrowedTo, type SessionFilter, usdOfNano } from "./list.ts";
import { type DayRow, listRows, type RepoSums, type SumRow } from "./list-rows.ts";
import { isOfFew, sumsByStretch } from "./stretch-sums.ts";

/** What some sessions come to. */
export interface SessionSums extends Omit<SumRow, "costNano" | "priced" | "unpriced"> {
  /** Dollars at list prices, of those that have one; null where none has. */
  readonly usd: number | null;
  /** Sessions with tokens that have no price. */
  readonly unpriced: number;
  /** Only the newest 100,000 were looked at. */
  readonly partial: boolean;
}

/** Sums of the sessions that a filter leaves, in slices that let others in; texts are not looked for. */
export async function sumSessions(
  core: Core,
  teamId: string,
  filter: Omit<SessionFilter, "text"> = {},
): Promise<SessionSums> {
  const narrowed = narrowedTo(core, teamId, filter);
  const yieldNow = cooperative(core.clock);
  let all: SumRow | undefined;
  for (const { sums } of sumsByStretch(core, narrowed)) {
    all = all ? added(all, sums) : sums;
    await yieldNow();
  }
  const { costNano, priced, ...rest } = all ?? NOTHING;
  const partial = narrowed.from > firstStart(filter);
  return { ...rest, usd: priced === 0 ? null : usdOfNano(costNano), partial };
}

const NOTHING: SumRow = {
  ...{ sessions: 0, succeeded: 0, failed: 0, stopped: 0 },
  ...{ costNano: 0, priced: 0, unpriced: 0, commits: 0 },
};

function added(a: SumRow, b: SumRow): SumRow {
  const sum = { ...a };
  for (const name of Object.keys(NOTHING) as (keyof SumRow)[]) sum[name] = a[name] + b[name];
  return sum;
}

/** What the sessions can be narrowed by. */
export interface SessionFacets {
  readonly repoKeys: readonly string[];
  readonly devices: readonly { readonly id: string; readonly label: string | null }[];
  /** Whom agents name as signed in. */
  readonly userEmails: readonly string[];
  readonly outcomes: readonly string[];
  readonly agents: readonly string[];
  readonly models: readonly string[];
  readonly branches: readonly string[];
  /** There may be others: of older sessions, or beyond the most of a list. */
  readonly partial: boolean;
}

const FACETED_SESSIONS = 2_000;
const MAX_VALUES = 100;

/**
 * The values that a team's newest 2,000 sessions hold, or those of some devices; each list sorted and of at most 100, those of newer
 * sessions first to be kept. Devices that sent thousands are looked for among the team's newest 10,000.
 * @param deviceIds only of sessions that these sent
 */
export function sessionFacets(core: Core, teamId: string, deviceIds?: readonly string[]): SessionFacets {
  const { newest, newestOfFew } = listRows(core.store);
  const of = { teamId, deviceIds: deviceIds ? JSON.stringify(deviceIds) : null, most: FACETED_SESSIONS };
  const ofFew = isOfFew(core, of);
  const rows = (ofFew ? newestOfFew : newest).all(of);
  let partial = rows.length === FACETED_SESSIONS || (deviceIds !== undefined && !ofFew);
  const few = (values: readonly string[]) => {
    partial ||= values.length > MAX_VALUES;
    return values.slice(0, MAX_VALUES).sort();
  };
  const distinct = (values: readonly string[]) => few([...new Set(values)].filter((value) => value !== ""));
  const facets = {
    repoKeys: few([...new Set(rows.map((row) => row.repoKey))]),
    devices: withDeviceLabels(
      core,
      distinct(rows.map((row) => row.deviceId)).map((deviceId) => ({ deviceId })),
    ).map(({ deviceId, deviceLabel }) => ({ id: deviceId, label: deviceLabel })),
    userEmails: distinct(rows.map((row) => row.userEmail)),
    outcomes: distinct(rows.map((row) => row.outcome)),
    agents: distinct(rows.map((row) => row.agent)),
    models: distinct(rows.map((row) => row.model)),
    branches: distinct(rows.map((row) => row.branch)),
  };
  return { ...facets, partial };
}

/** A session as its agent named it. */
export interface NamedSession {
  /** Undefined where it is known only by what it used. */
  readonly id: number | undefined;
  readonly title: string | null;
}

/**
 * The name of a device's session, by the id that its agent gave it; where another device tells of it as a whole, that one's name.
 * @param sees whether the one who asks sees what a device sent
 */
export function nameSession(
  core: Core,
  deviceId: string,
  externalId: string,
  sees: (deviceId: string) => boolean,
): NamedSession | undefined {
  const { named, title } = listRows(core.store);
  const found = named.get(deviceId, externalId);
  if (!found || found.id !== null) return found && { id: found.id ?? undefined, title: found.title };
  const whole = sessionTwins.wholeOf(core, deviceId, externalId);
  return whole && sees(whole.deviceId)
    ? { id: whole.id, title: title.get(whole.id) ?? null }
    : { id: undefined, title: null };
}

/** Repositories that are listed at most. */
const MAX_REPOS = 1_000;

/**
 * What the sessions of each repository come to that began at an instant or later, a day at a time, which lets others in; a thousand
 * repositories at most.
 */
export async function sumRepos(core: Core, teamId: string, from: number): Promise<RepoSums[]> {
  const yieldNow = cooperative(core.clock);
  const sums = new Map<string, RepoSums>();
  const now = core.clock.now();
  for (let day = from; day <= now; day += DAY_MS) {
    // Agents' clocks may be ahead.
    const until = day + DAY_MS > now ? Number.MAX_SAFE_INTEGER : day + DAY_MS;
    for (const sum of listRows(core.store).repos.all(teamId, day, until, MAX_REPOS)) {
      const before = sums.get(sum.repoKey);
      if (before || sums.size < MAX_REPOS) sums.set(sum.repoKey, before ? addedRepo(before, sum) : sum);
    }
    await yieldNow();
  }
  return [...sums.values()];
}

const addedRepo = (a: RepoSums, b: RepoSums): RepoSums => ({
  repoKey: a.repoKey,
  sessions: a.sessions + b.sessions,
  succeeded: a.succeeded + b.succeeded,
  failed: a.failed + b.failed,
  stopped: a.stopped + b.stopped,
  lastAt: Math.max(a.lastAt, b.lastAt),
});

/** How many of a repository's sessions began on each day of some and what they came to; days without any are absent. */
export const repoDays = (core: Core, teamId: string, repoKey: string, from: number, to: number): DayRow[] =>
  listRows(core.store).days.all({ teamId, repoKey, from, to });

/** What a session is called: by what it was asked, or else by the id that its agent gave it; undefined where it is not known. */
export const sessionTitle = (core: Core, id: number): string | undefined => listRows(core.store).title.get(id);
