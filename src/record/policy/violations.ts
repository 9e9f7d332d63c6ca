import type { Core } from "../../core.ts";
import { type ViolationRow, violationRows } from "./violation-rows.ts";

/** What a device sent against its team's policy: anything while nothing was to be recorded, text while only metadata was. */
type Violations = Omit<ViolationRow, "deviceId">;

const NONE: Violations = { deliveries: 0, lastAt: null };

/** Counts a delivery against the policy, sent again or not; call inside a transaction. */
export function countViolation(core: Core, deviceId: string, now: number): void {
  violationRows(core.store).count.run(deviceId, now);
}

/** What each device sent against the policy. @returns a look-up by the device's id */
export function violationsOf(core: Core, deviceIds: readonly string[]): (deviceId: string) => Violations {
  const counted = new Map(
    violationRows(core.store)
      .ofDevices.all(JSON.stringify(deviceIds))
      .map(({ deviceId, ...violations }) => [deviceId, violations]),
  );
  return (deviceId) => counted.get(deviceId) ?? NONE;
}

/** The devices, of whatever team, that sent something against the policy lately. @param since milliseconds since the epoch */
export const violatorsSince = (core: Core, since: number): ReadonlySet<string> =>
  new Set(violationRows(core.store).since.all(since));
