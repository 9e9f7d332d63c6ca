import { listAuthorizations } from "../../../identity/device-flow/device-flow.ts";
import { listDevices } from "../../../identity/devices/devices.ts";
import { getTeam } from "../../../identity/teams/teams.ts";
import { countEntries, entriesProjection } from "../../../insight/defects/defects.ts";
import { isoInstant } from "../../../kit/clock.ts";
import { countDeliveries } from "../../../log/log.ts";
import { catchUp } from "../../../platform/projections/projections.ts";
import { listRepositories } from "../../../record/brain/brain.ts";
import { type DeviceTotals, deviceTotals } from "../../../record/telemetry/telemetry.ts";
import type { LocalInstance } from "../types.ts";
import { control } from "./route.ts";
import { describeTeam } from "./team.ts";

/** The state of the instance. */
export async function describeState({ core, clock, credentials, kept, faults, journal }: LocalInstance) {
  const devices = listDevices(core, credentials.teamId).toReversed();
  const ids = devices.map(({ id }) => id);
  const totals = [...deviceTotals(core, ids).values()];
  const sum = (count: (device: DeviceTotals) => number) => totals.reduce((total, device) => total + count(device), 0);
  const errors = await countEntries(core, credentials.teamId);
  return {
    clock: clock.describe(),
    seed: kept.seed,
    team: describeTeam(getTeam(core, credentials.teamId)),
    credentials,
    devices: devices.map(({ id, label, status }) => ({ id, label, status })),
    authorizations: listAuthorizations(core).map(({ userCode, channel, createdAt, expiresAt }) => ({
      user_code: userCode,
      channel,
      createdAt: isoInstant(createdAt),
      expiresAt: isoInstant(expiresAt),
    })),
    faults: faults.list(),
    counts: {
      devices: devices.length,
      deliveries: countDeliveries(core.store.db),
      telemetryEntries: sum(({ entries }) => entries),
      telemetryConflicts: sum(({ conflicts }) => conflicts),
      missingSequenceNumbers: sum(({ missing }) => missing),
      repositories: listRepositories(core, credentials.teamId).length,
      errorEntries: errors.entries,
      openErrors: errors.open,
      journal: journal.size,
    },
  };
}

export const stateRoute = control(
  {
    method: "GET",
    path: "/_dev/state",
    description: "clock, team, credentials, devices, device authorizations that wait, planned faults, counts",
  },
  async ({ local }) => {
    await catchUp(local.core, entriesProjection);
    return describeState(local);
  },
);
