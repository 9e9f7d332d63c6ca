import type { Core } from "../../core.ts";
import { MAX_ERASED_ROWS } from "../../kit/erase-steps.ts";
import { cooperative } from "../../kit/yield.ts";
import type { Portion } from "../../log/log.ts";
import { rows } from "./rows.ts";

/** The figures of a device for a repository, and when they were taken. */
interface Pulse {
  readonly deviceId: string;
  /** `""` for what came without one. */
  readonly repoKey: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface Pulses {
  /** Newest first. */
  readonly pulses: readonly Pulse[];
  /** Sums over all of them by name. */
  readonly counts: Readonly<Record<string, number>>;
  /** Fingerprints, 8 hexadecimal digits each, that two devices or more told of, most devices first. */
  readonly shared: readonly { readonly fingerprint: string; readonly devices: number }[];
}

/** Pulses looked at, at most: the newest. */
const MAX_PULSES = 5_000;
/** Names and fingerprints that are counted, at most, from the newest pulses on: each pulse may bring a thousand new fingerprints. */
const MAX_NAMES = 2_000;
const MAX_FINGERPRINTS = 20_000;
/** Fingerprints read, of the newest pulses. */
const MAX_READ = 300_000;

/**
 * What a team's devices last told.
 * @param from leaves out what is older, in milliseconds since the epoch
 */
export async function listPulses(core: Core, teamId: string, from = 0): Promise<Pulses> {
  const sql = rows(core.store);
  const yieldNow = cooperative(core.clock);
  const pulses = sql.list.all(teamId, from, MAX_PULSES);
  const sums = new Map<string, number>();
  const devices = new Map<string, Set<string>>();
  let left = MAX_READ;
  for (const { deviceId, repoKey } of pulses) {
    await yieldNow();
    const figures = sql.figures.get(deviceId, repoKey);
    if (!figures) continue;
    for (const [name, count] of Object.entries(JSON.parse(figures.counts) as Record<string, number>))
      if (sums.has(name) || sums.size < MAX_NAMES) sums.set(name, (sums.get(name) ?? 0) + count);
    const fingerprints = left > 0 ? (JSON.parse(figures.fingerprints) as string[]) : [];
    left -= fingerprints.length;
    for (const fingerprint of fingerprints) {
      const reporters = devices.get(fingerprint);
      if (reporters) reporters.add(deviceId);
      else if (devices.size < MAX_FINGERPRINTS) devices.set(fingerprint, new Set([deviceId]));
    }
  }
  const shared = [...devices]
    .map(([fingerprint, reporters]) => ({ fingerprint, devices: reporters.size }))
    .filter((shared) => shared.devices > 1)
    .sort((a, b) => b.devices - a.devices || (a.fingerprint < b.fingerprint ? -1 : 1));
  return { pulses, counts: Object.fromEntries([...sums].sort(([a], [b]) => (a < b ? -1 : 1))), shared };
}

/** Whether there is one of a device and a repository. */
export const hasPulse = (core: Core, deviceId: string, repoKey: string): boolean =>
  rows(core.store).at.get(deviceId, repoKey) !== undefined;

/** Row change: what a device told last, of a portion. @returns how many rows went */
export const erasePulses = (core: Core, { deviceId, repoKey, until }: Omit<Portion, "erasureId">): number =>
  rows(core.store).drop.run({ deviceId, repoKey, until, limit: MAX_ERASED_ROWS }).changes;
