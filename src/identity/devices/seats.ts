import type { Core } from "../../core.ts";
import { recordEvent, SYSTEM } from "../../platform/audit/audit.ts";
import type { Team } from "../teams/teams.ts";
import { deviceRows } from "./roster.ts";

/** How many devices a team has, how many of them can report, and how many of these were heard of lately. */
export interface DeviceCounts {
  readonly all: number;
  /** Neither revoked nor with an expired token: each takes a seat. */
  readonly active: number;
  readonly seen: number;
}

/** Counts a team's devices. @param seenSince milliseconds since the epoch */
export function countDevices(core: Core, teamId: string, seenSince: number): DeviceCounts {
  const now = core.clock.now();
  const devices = deviceRows(core, teamId);
  const counts = { all: devices.length, active: 0, seen: 0 };
  for (const { revokedAt, tokenExpiresAt, lastSeenAt } of devices) {
    if (revokedAt !== null || (tokenExpiresAt !== null && tokenExpiresAt <= now)) continue;
    counts.active++;
    if (lastSeenAt !== null && lastSeenAt >= seenSince) counts.seen++;
  }
  return counts;
}

/**
 * Records when more devices can report than a team has seats, once each time that happens; call inside the transaction that connects a
 * device or changes the team. Nothing is refused because of it. Where nobody pays (RECKON_BILLING=off), seats do not count.
 * @param before the team as it was, which may have had more seats
 * @param connected how many devices have just been connected
 */
export function noteSeats(core: Core, before: Team, { id, name, seats }: Team, connected = 0): void {
  if (core.config.billing === "off") return;
  const { active } = countDevices(core, id, core.clock.now());
  if (active <= seats || active - connected > before.seats) return;
  recordEvent(core, SYSTEM, {
    action: "team.seats_exceeded",
    teamId: id,
    target: { kind: "team", id, label: name },
    detail: { devices: active, seats },
  });
}
