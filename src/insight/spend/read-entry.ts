import { type ReadPayload, readPayload } from "../../formats/payload.ts";
import { readInstant } from "../../formats/values.ts";
import type { UsageCandidate } from "../../record/telemetry/telemetry.ts";
import { NOTHING, type Origin, ownCostKey, ownUsageKey, type Told, tellCost, tellUsage } from "./usage-record.ts";

/** What an entry tells of usage and cost; nothing for most entries. */
export function readEntry(entry: UsageCandidate): Told[] {
  const payload = readPayload(JSON.parse(entry.payload));
  const { usage, costUsd } = payload;
  if (!usage && costUsd === null) return [];
  const origin = originOf(entry, payload);
  const told = usage ? tellUsage(origin, usage, costUsd) : costUsd === null ? [] : [tellCost(origin, costUsd)];
  if (told.length === 0) return [];
  return [...told, ...marks(origin, usage !== null, costUsd !== null)];
}

/** Keeps the session's own account of the whole from counting beside what its entries tell. */
function marks({ teamId, deviceId, session }: Origin, usage: boolean, cost: boolean): Told[] {
  if (session === "") return [];
  const mark = (key: Buffer): Told => ({ teamId, key, place: null, figures: NOTHING });
  return [
    ...(usage ? [mark(ownUsageKey(deviceId, session))] : []),
    ...(cost ? [mark(ownCostKey(deviceId, session))] : []),
  ];
}

function originOf(entry: UsageCandidate, { session, branch, model, at }: ReadPayload): Origin {
  const { teamId, deviceId, repoKey, clientTimestamp, receivedAt } = entry;
  return {
    teamId,
    deviceId,
    repoKey,
    session: session ?? "",
    branch: branch ?? "",
    model: model ?? "",
    at: at ?? readInstant(clientTimestamp) ?? receivedAt,
  };
}
