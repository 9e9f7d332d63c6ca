import type { Core } from "../../core.ts";
import { MAX_ERASED_ROWS } from "../../kit/erase-steps.ts";
import type { Portion } from "../../log/log.ts";
import { rows } from "./rows.ts";

/** What one device last told of one repository. */
export interface Pulse {
  readonly deviceId: string;
  /** `""` for what came without one. */
  readonly repoKey: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly counts: Readonly<Record<string, number>>;
  /** 8 hexadecimal digits each, sorted. */
  readonly fingerprints: readonly string[];
}

export interface Pulses {
  /** Newest first. */
  readonly pulses: readonly Pulse[];
  /** Sums over all of them by name. */
  readonly counts: Readonly<Record<string, number>>;
  /** Fingerprints that two devices or more told of, most devices first. */
  readonly shared: readonly { readonly fingerprint: string; readonly devices: number }[];
}

/** Pulses looked at, at most: the newest. */
const MAX_PULSES = 5_000;

/**
 * What a team's devices last told.
 * @param from leaves out what is older, in milliseconds since the epoch
 */
export function listPulses(core: Core, teamId: string, from = 0): Pulses {
  const pulses = rows(core.store)
    .list.all(teamId, from, MAX_PULSES)
    .map(
      (row): Pulse => ({
        ...row,
        counts: JSON.parse(row.counts) as Record<string, number>,
        fingerprints: JSON.parse(row.fingerprints) as string[],
      }),
    );
  const sums = new Map<string, number>();
  const devices = new Map<string, Set<string>>();
  for (const { deviceId, counts, fingerprints } of pulses) {
    for (const [name, count] of Object.entries(counts)) sums.set(name, (sums.get(name) ?? 0) + count);
    for (const fingerprint of fingerprints)
      devices.set(fingerprint, (devices.get(fingerprint) ?? new Set()).add(deviceId));
  }
  const shared = [...devices]
    .map(([fingerprint, reporters]) => ({ fingerprint, devices: reporters.size }))
    .filter((shared) => shared.devices > 1)
    .sort((a, b) => b.devices - a.devices || (a.fingerprint < b.fingerprint ? -1 : 1));
  return { pulses, counts: Object.fromEntries([...sums].sort(([a], [b]) => (a < b ? -1 : 1))), shared };
}

/** Row change: what a device told last, of a portion. @returns how many rows went */
export const erasePulses = (core: Core, { deviceId, repoKey, until }: Omit<Portion, "erasureId">): number =>
  rows(core.store).drop.run({ deviceId, repoKey, until, limit: MAX_ERASED_ROWS }).changes;
