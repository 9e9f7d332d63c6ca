import type { Core } from "../core.ts";
import { withDeviceLabels } from "../identity/devices/devices.ts";
import { rows } from "./rows.ts";

/** What one UTC day brought. */
export interface ActivityDay {
  /** Days since the epoch, UTC. */
  readonly day: number;
  /** Telemetry entries stored, evidence included. */
  readonly entries: number;
  /** Brain snapshots stored, evidence included. */
  readonly snapshots: number;
  /** Sessions in the trace deliveries that changed anything; one that grew in three deliveries counts three times. */
  readonly sessions: number;
  /** Deliveries with this flag; likewise `rollbacks`. */
  readonly gaps: number;
  readonly rollbacks: number;
}

/** Ten years: more days are never drawn, and this bounds what one call makes. */
const MAX_DAYS = 3_660;

/**
 * A team's deliveries by day, oldest first, days without any included.
 * @param fromDay first day, since the epoch, UTC
 * @param toDay last day, included; of a longer span than ten years the newest part is given
 */
export function activity(core: Core, teamId: string, fromDay: number, toDay: number): ActivityDay[] {
  const last = Math.floor(toDay);
  const first = Math.max(Math.floor(fromDay), last - MAX_DAYS + 1);
  if (!(first <= last)) return [];
  const byDay = Map.groupBy(rows(core.store).days.all(teamId, first, last), (row) => row.day);
  return Array.from({ length: last - first + 1 }, (_, i) => {
    const counted = byDay.get(first + i) ?? [];
    const ofKind = (kind: string) => counted.find((row) => row.kind === kind);
    return {
      day: first + i,
      entries: ofKind("telemetry")?.items ?? 0,
      snapshots: ofKind("brain")?.deliveries ?? 0,
      sessions: ofKind("traces")?.items ?? 0,
      gaps: counted.reduce((sum, row) => sum + row.gaps, 0),
      rollbacks: counted.reduce((sum, row) => sum + row.rollbacks, 0),
    };
  });
}

/**
 * A team's newest flagged deliveries, newest first.
 * @param limit 1 to 200
 * @param ofTelemetry true for those of telemetry alone, false for all others; absent for all
 */
export function recentFlags(core: Core, teamId: string, limit: number, ofTelemetry?: boolean) {
  const most = Math.min(Math.max(Math.floor(limit), 1), 200);
  const only = ofTelemetry === undefined ? null : Number(ofTelemetry);
  const flagged = rows(core.store).flagged.all({ teamId, ofTelemetry: only, most });
  return withDeviceLabels(core, flagged).map(({ receivedAt: at, ...flag }) => ({ ...flag, at }));
}

/** A delivery that was flagged, and whose it was. */
export type FlagRow = ReturnType<typeof recentFlags>[number];
