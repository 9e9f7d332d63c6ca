import type { Core } from "../../core.ts";
import { type Actor, COMMAND_LINE, recordEvent } from "../../platform/audit/audit.ts";
import { type DeviceTotals, deviceTotals } from "../../record/telemetry/telemetry.ts";
import { redactText } from "../../redact/redact.ts";
import { endBinding } from "./binding.ts";
import { type OverviewRow, rows } from "./rows.ts";

/** A device as people see it. */
export interface DeviceOverview extends OverviewRow {
  /** `expired`: its token ran out before it was rotated; it must be connected again. */
  readonly status: "active" | "expired" | "revoked";
  readonly streams: number;
  readonly entries: number;
  readonly conflicts: number;
  /** Sequence numbers that never arrived. */
  readonly missing: number;
}

/** A team's devices, the one bound last first, with what they sent. */
export function deviceOverview(core: Core, teamId: string): DeviceOverview[] {
  const sent = deviceTotals(core, teamId);
  return rows(core.store)
    .overview.all({ teamId, deviceId: null })
    .map((row) => describe(core, row, sent.get(row.id)));
}

/** One device of a team as people see it. @returns undefined when the team has no such device */
export function findDeviceOf(core: Core, teamId: string, deviceId: string): DeviceOverview | undefined {
  const row = rows(core.store).overview.get({ teamId, deviceId });
  return row && describe(core, row, deviceTotals(core, teamId).get(deviceId));
}

function describe(core: Core, row: OverviewRow, sent: DeviceTotals | undefined): DeviceOverview {
  const { streams = 0, entries = 0, conflicts = 0, missing = 0 } = sent ?? {};
  return { ...row, status: judgeStatus(row, core.clock.now()), streams, entries, conflicts, missing };
}

/** How many of a team's devices can report, and how many of them were heard of lately. */
export interface DeviceCounts {
  /** Neither revoked nor with an expired token: what a seat is taken by. */
  readonly active: number;
  readonly seen: number;
}

/** Counts a team's devices that can report. @param seenSince milliseconds since the epoch */
export function countDevices(core: Core, teamId: string, seenSince: number): DeviceCounts {
  return rows(core.store).count.get({ teamId, now: core.clock.now(), seenSince }) ?? { active: 0, seen: 0 };
}

function judgeStatus({ revokedAt, tokenExpiresAt }: OverviewRow, now: number): DeviceOverview["status"] {
  if (revokedAt !== null) return "revoked";
  return tokenExpiresAt !== null && tokenExpiresAt <= now ? "expired" : "active";
}

const MAX_LABEL_CHARS = 200;

/**
 * Gives a device of a team another label, free of control characters and secrets; blank takes the label away.
 * @returns false when the team has no such device
 */
export function renameDevice(
  core: Core,
  teamId: string,
  deviceId: string,
  label: string,
  by: Actor = COMMAND_LINE,
): Promise<boolean> {
  const printable = label
    .toWellFormed()
    .replace(/\p{Cc}+/gu, " ")
    .trim();
  const clean = redactText(printable).text.slice(0, MAX_LABEL_CHARS).toWellFormed() || null;
  return core.store.write(() => {
    const device = rows(core.store).device.get(deviceId);
    if (device?.teamId !== teamId) return false;
    if (device.label === clean) return true;
    rows(core.store).renameDevice.run(clean, deviceId, teamId);
    recordEvent(core, by, {
      action: "device.renamed",
      teamId,
      target: { kind: "device", id: deviceId, label: clean },
      detail: { from: device.label, to: clean },
    });
    return true;
  });
}

/** Ends the binding of a device of a team. @returns undefined when the team has no such device, false when it had ended before */
export function revokeDeviceOf(
  core: Core,
  teamId: string,
  deviceId: string,
  by: Actor = COMMAND_LINE,
): Promise<boolean | undefined> {
  return core.store.write(() => {
    const device = rows(core.store).device.get(deviceId);
    if (device?.teamId !== teamId) return undefined;
    return endBinding(core, device, by, "device.revoked");
  });
}
