import type { MeteredSession } from "../../record/traces/traces.ts";
import { type Origin, ownCostKey, ownUsageKey, type Told, tellCost, tellUsage } from "./usage-record.ts";

/**
 * What a session tells of usage and cost: its model calls, and its own account of the whole where they tell none. Whether
 * entries do is known where the two are counted.
 */
export function readSession(session: MeteredSession): Told[] {
  const { teamId, deviceId, repoKey, externalId, calls, usage, costUsd } = session;
  const origin = (model: string | null, at: number | null): Origin => ({
    teamId,
    deviceId,
    repoKey,
    session: externalId,
    // The session's own branch and model are looked up where cells are made: they may change later.
    branch: "",
    model: model ?? "",
    at: at ?? session.startedAt ?? session.endedAt ?? session.createdAt,
  });
  const told = calls.flatMap((call) => tellUsage(origin(call.model, call.at), call.usage, call.costUsd));
  const own = origin(null, null);
  if (usage && told.length === 0) {
    // A sum of many requests says nothing of the size of each.
    const [whole] = tellUsage(own, { ...usage, id: null, requestId: null, context: 0 }, null);
    if (whole) told.push({ ...whole, key: ownUsageKey(deviceId, externalId) });
  }
  if (costUsd !== null && told.every(({ figures }) => figures.reported === 0))
    told.push(tellCost(own, costUsd, ownCostKey(deviceId, externalId)));
  return told;
}
