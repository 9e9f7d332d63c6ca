import type { Core } from "../core.ts";
import { redactText } from "../redact/redact.ts";
import { deviceTotals } from "../telemetry/telemetry.ts";
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
  const now = core.clock.now();
  const sent = deviceTotals(core, teamId);
  return rows(core.store)
    .overview.all(teamId)
    .map((row) => {
      const { streams = 0, entries = 0, conflicts = 0, missing = 0 } = sent.get(row.id) ?? {};
      return { ...row, status: judgeStatus(row, now), streams, entries, conflicts, missing };
    });
}

function judgeStatus({ revokedAt, tokenExpiresAt }: OverviewRow, now: number): DeviceOverview["status"] {
  if (revokedAt !== null) return "revoked";
  return tokenExpiresAt !== null && tokenExpiresAt <= now ? "expired" : "active";
}

const MOST_LABEL_CHARS = 200;

/**
 * Gives a device of a team another label, free of control characters and secrets; blank takes the label away.
 * @returns false when the team has no such device
 */
export function renameDevice(core: Core, teamId: string, deviceId: string, label: string): Promise<boolean> {
  const printable = label
    .toWellFormed()
    .replace(/\p{Cc}+/gu, " ")
    .trim();
  const clean = redactText(printable).text.slice(0, MOST_LABEL_CHARS).toWellFormed() || null;
  return core.store.write(() => rows(core.store).renameDevice.run(clean, deviceId, teamId).changes === 1);
}

/** Ends the binding of a device of a team. @returns undefined when the team has no such device, false when it had ended before */
export function revokeDeviceOf(core: Core, teamId: string, deviceId: string): Promise<boolean | undefined> {
  return core.store.write(() => {
    if (rows(core.store).device.get(deviceId)?.teamId !== teamId) return undefined;
    return rows(core.store).revokeDevice.run(core.clock.now(), deviceId).changes === 1;
  });
}
