import { statfsSync } from "node:fs";
import type { Core } from "../../core.ts";
import { expiringApiTokens } from "../../identity/api-tokens/api-tokens.ts";
import { type Device, listDevices } from "../../identity/devices/devices.ts";
import { listTeams, type Team } from "../../identity/teams/teams.ts";
import { DAY_MS, instantOrNull, isoInstant, MINUTE_MS } from "../../kit/clock.ts";
import { isQuiet } from "../../kit/quiet.ts";
import { cooperative } from "../../kit/yield.ts";
import type { Job } from "../../platform/jobs/jobs.ts";
import { listKeys } from "../../platform/keys/keys.ts";
import { type Notice, notify } from "../../platform/notices/notices.ts";
import { staleBackup, staleReplica } from "../maintenance/maintenance.ts";
import { listeningSince } from "./listening.ts";
import { rows } from "./rows.ts";

/** What is due is told of so long before. */
const LICENSE_NOTICE_MS = 14 * DAY_MS;
const TOKEN_NOTICE_MS = 7 * DAY_MS;
const KEY_AGE_MS = 365 * DAY_MS;
/** Conditions noted in one transaction. */
const MAX_AT_ONCE = 100;
const LOW_BYTES = 2 * 1024 * 1024 * 1024;
const LOW_SHARE = 0.05;
/** So much more is free once it is over: space that swings around the limit is told of once. */
const OVER_FACTOR = 1.25;

/** A condition that holds. */
interface Condition {
  /** Names it; of one kind all begin with the same word and a colon. */
  readonly key: string;
  readonly notice: Notice;
}

/** What is told when a condition that held before does not any more, by its key. */
type Over = (key: string) => Notice | undefined;

/** Looks at everything that is watched. Where nothing may leave the server, nobody would hear of it. */
export const alarmsJob: Job = {
  name: "alarms",
  everyMs: MINUTE_MS,
  needsClock: true,
  async run(core) {
    const since = await listeningSince(core);
    if (core.config.outbound.hosts.length === 0) return;
    const yieldNow = cooperative(core.clock);
    const devices = new Map<string, Device>();
    for (const team of servedTeams(core)) {
      // Nobody misses a machine whose one job is over.
      for (const device of listDevices(core, team.id)) if (device.endsAt === null) devices.set(device.id, device);
      await yieldNow();
    }
    await compare(core, "quiet", quietDevices(core, [...devices.values()], since), (key) => heardAgain(devices, key));
    await compare(core, "backup", oldBackup(core), () => installation("backup.stale", { state: "ended" }));
    await compare(core, "replica", oldReplica(core), () =>
      staleReplica(core) === null ? installation("replica.stale", { state: "ended" }) : undefined,
    );
    await compare(core, "disk", lowDisk(core), () =>
      installation("disk.low", { state: "ended", free_bytes: spaceOf(core).free }),
    );
    if (core.config.billing === "on") await compare(core, "license", dueLicenses(core));
    const keys = [...dueSigningKey(core)];
    for (const team of [null, ...listTeams(core)]) {
      keys.push(...dueTokens(core, team?.id ?? null));
      await yieldNow();
    }
    await compare(core, "key", keys);
  },
};

/** Of those that moved to another instance nothing is expected here. */
export const servedTeams = (core: Core) => listTeams(core).filter(({ movedTo }) => movedTo === null);

/** Notes what began, and what is over, since it was looked last. */
async function compare(
  core: Core,
  kind: string,
  now: readonly Condition[],
  over: Over = () => undefined,
): Promise<void> {
  const sql = rows(core.store);
  const before = new Set(sql.of.all(`${kind}:`, `${kind};`));
  const begun = now.filter(({ key }) => !before.delete(key));
  await inPortions(core, begun, ({ key, notice }) => {
    if (sql.begin.run(key, core.clock.now()).changes > 0) notify(core, notice);
  });
  await inPortions(core, [...before], (key) => {
    const notice = sql.end.run(key).changes > 0 ? over(key) : undefined;
    if (notice) notify(core, notice);
  });
}

/** Changes rows for each of many, some in a transaction: after an outage thousands of machines are heard again at once. */
async function inPortions<T>(core: Core, list: readonly T[], change: (one: T) => void): Promise<void> {
  for (let from = 0; from < list.length; from += MAX_AT_ONCE) {
    const some = list.slice(from, from + MAX_AT_ONCE);
    await core.store.write(() => some.forEach(change));
  }
}

const installation = (type: Notice["type"], data: Notice["data"]): Notice => ({
  type,
  teamId: null,
  path: "/settings",
  data,
});

function quietNotice({ id, teamId, lastSeenAt }: Device, state: "began" | "ended"): Notice {
  const data = { device: id, last_seen: instantOrNull(lastSeenAt), state };
  return { type: "device.quiet", teamId, path: `/devices/${id}`, data, deviceId: id };
}

/** @param since from when on the server could hear them: none becomes quiet by its absence, and those that were stay so */
function quietDevices({ clock, store }: Core, devices: readonly Device[], since: number): Condition[] {
  const now = clock.now();
  const before = isQuiet(since, now) ? undefined : new Set(rows(store).of.all("quiet:", "quiet;"));
  return devices
    .filter(({ silentSince }) => isQuiet(silentSince, now))
    .map((device) => ({ key: `quiet:${device.id}`, notice: quietNotice(device, "began") }))
    .filter(({ key }) => before === undefined || before.has(key));
}

/** One that was disconnected meanwhile is over without a word. */
function heardAgain(devices: ReadonlyMap<string, Device>, key: string): Notice | undefined {
  const device = devices.get(key.slice("quiet:".length));
  return device?.status === "active" ? quietNotice(device, "ended") : undefined;
}

function oldBackup(core: Core): Condition[] {
  const stale = staleBackup(core);
  if (!stale) return [];
  const data = { last: instantOrNull(stale.last), state: "began" };
  return [{ key: "backup:stale", notice: installation("backup.stale", data) }];
}

function oldReplica(core: Core): Condition[] {
  const stale = staleReplica(core);
  if (!stale) return [];
  const data = { last: instantOrNull(stale.goodAt), failing: stale.failing, state: "began" };
  return [{ key: "replica:stale", notice: installation("replica.stale", data) }];
}

/** Free bytes of the disk, and whether that is low. After an alarm the limit is higher, so that it does not come and go. */
function spaceOf({ store }: Core): { free: number; low: boolean } {
  const { bavail, bsize, blocks } = statfsSync(store.directory);
  const free = bavail * bsize;
  const factor = rows(store).of.all("disk:", "disk;").length > 0 ? OVER_FACTOR : 1;
  return { free, low: free < LOW_BYTES * factor && bavail < blocks * LOW_SHARE * factor };
}

function lowDisk(core: Core): Condition[] {
  const { free, low } = spaceOf(core);
  return low ? [{ key: "disk:low", notice: installation("disk.low", { free_bytes: free, state: "began" }) }] : [];
}

/** Told once for each paid period. */
function dueLicenses(core: Core, teams: readonly Team[] = servedTeams(core)): Condition[] {
  const now = core.clock.now();
  return teams.flatMap(({ id: teamId, subscription, periodEndAt }) => {
    if (periodEndAt === null || periodEndAt > now + LICENSE_NOTICE_MS) return [];
    if (subscription === "canceled" || subscription === "none") return [];
    const data = { until: isoInstant(periodEndAt), subscription };
    const notice: Notice = { type: "license.due", teamId, path: "/license", data };
    return [{ key: `license:${teamId}:${periodEndAt}`, notice }];
  });
}

function dueTokens(core: Core, of: string | null): Condition[] {
  return expiringApiTokens(core, of, core.clock.now() + TOKEN_NOTICE_MS).map(({ id, teamId, name, expiresAt }) => {
    const data = { kind: "api_token", id, name, until: isoInstant(expiresAt) };
    return { key: `key:${id}`, notice: { type: "key.due", teamId, path: "/api-tokens", data } };
  });
}

function dueSigningKey(core: Core): Condition[] {
  const key = listKeys(core).find(({ retiredAt }) => retiredAt === null);
  if (!key || key.createdAt > core.clock.now() - KEY_AGE_MS) return [];
  const data = { kind: "signing_key", id: key.kid, created: isoInstant(key.createdAt) };
  return [{ key: `key:${key.kid}`, notice: installation("key.due", data) }];
}

/** What is due of a team, or of the installation, at the moment, whether or not anybody outside hears of it. */
export function dueNow(core: Core, team: Team | null): Notice[] {
  const due = team
    ? [...dueLicenses(core, [team]), ...dueTokens(core, team.id)]
    : [...lowDisk(core), ...oldReplica(core), ...dueSigningKey(core)];
  return due.map(({ notice }) => notice);
}
