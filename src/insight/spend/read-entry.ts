import { OTLP_STREAM } from "../../formats/exported.ts";
import { type ReadPayload, readPayload } from "../../formats/payload.ts";
import { readInstant } from "../../formats/values.ts";
import type { UsageCandidate } from "../../record/telemetry/telemetry.ts";
import { sessionKey } from "./dedupe-key.ts";
import { believedTime, type Origin, recordCost, recordMark, recordUsage } from "./record-usage.ts";
import { TELEMETRY, type UsageRecord } from "./usage-record.ts";

/** What an entry reports of usage and cost; nothing for most entries. */
export function readEntry(entry: UsageCandidate): UsageRecord[] {
  const payload = readPayload(JSON.parse(entry.payload));
  const { usage, costUsd } = payload;
  if (!usage && costUsd === null) return [];
  const origin = originOf(entry, payload);
  const records = usage ? recordUsage(origin, usage, costUsd) : [];
  if (!usage && costUsd !== null) records.push(recordCost(origin, costUsd));
  if (records.length === 0 || origin.session === "") return records;
  // With this mark the session's own account of the whole does not count beside what its entries report.
  const { deviceId, session } = origin;
  if (usage) records.push(recordMark(origin, sessionKey("own-usage", deviceId, session)));
  if (costUsd !== null) records.push(recordMark(origin, sessionKey("own-cost", deviceId, session)));
  return records;
}

function originOf(entry: UsageCandidate, { session, branch, model, at }: ReadPayload): Origin {
  const { teamId, deviceId, repoKey, clientTimestamp, receivedAt } = entry;
  const isOtlp = repoKey === OTLP_STREAM;
  return {
    source: TELEMETRY,
    isOtlp,
    teamId,
    deviceId,
    repoKey: isOtlp ? "" : repoKey,
    session: session ?? "",
    branch: branch ?? "",
    model: model ?? "",
    at: believedTime([at, readInstant(clientTimestamp)], receivedAt),
  };
}
