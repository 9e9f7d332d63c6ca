import { isObject } from "../../kit/json.ts";
import type { MeteredEntry } from "../../record/telemetry/telemetry.ts";
import {
  readAttributeModel,
  readAttributes,
  readAttributeUsage,
  readCost,
  readId,
  readInstant,
  readRequestId,
  readUsage,
  type Usage,
} from "../../record/traces/traces.ts";
import { sessionKey } from "./dedupe-key.ts";
import { type Origin, recordCost, recordMark, recordUsage } from "./record-usage.ts";
import { TELEMETRY, type UsageRecord } from "./usage-record.ts";

type Fields = Readonly<Record<string, unknown>>;

const fields = (value: unknown): Fields => (isObject(value) ? value : {});

/** What an entry reports of usage and cost; nothing for most entries. */
export function readEntry(entry: MeteredEntry): UsageRecord[] {
  const payload = fields(JSON.parse(entry.payload));
  const found = findUsage(payload);
  const usage = found && { ...found, requestId: found.requestId ?? readRequestId(attributesOf(payload)) };
  const costUsd = readCost(payload.costUsd);
  if (!usage && costUsd === null) return [];
  const origin = originOf(entry, payload);
  const records = usage ? recordUsage(origin, usage, costUsd) : [];
  if (!usage && costUsd !== null) records.push(recordCost(origin, costUsd));
  if (records.length === 0 || origin.session === "") return records;
  // Keeps the session's own account of the whole from counting beside what its entries report.
  const { deviceId, session } = origin;
  if (usage) records.push(recordMark(origin, sessionKey("own-usage", deviceId, session)));
  if (costUsd !== null) records.push(recordMark(origin, sessionKey("own-cost", deviceId, session)));
  return records;
}

/**
 * The payload's `usage`, Gemini's `usageMetadata`, an Anthropic `message` with its id, the payload itself where its type is
 * usage, or OpenTelemetry's attributes.
 */
function findUsage(payload: Fields): Usage | null {
  const message = fields(payload.message);
  return (
    readUsage(payload.usage) ??
    readUsage(payload.usageMetadata) ??
    readUsage(message.usage === undefined ? undefined : { ...fields(message.usage), id: message.id }) ??
    (payload.type === "usage" ? readUsage(payload) : null) ??
    attributeUsage(payload)
  );
}

/** Alone, a span of an agent cannot be told from the sum of the calls under it: in entries it does not count. */
function attributeUsage(payload: Fields): Usage | null {
  const attributes = attributesOf(payload);
  const operation = attributes["gen_ai.operation.name"];
  const isSum = typeof operation === "string" && /agent|workflow|execute_tool/.test(operation);
  return isSum ? null : readAttributeUsage(attributes);
}

const attributesOf = (payload: Fields): Fields => ({ ...payload, ...readAttributes(payload.attributes) });

const text = (value: unknown) => (typeof value === "string" ? readId(value) : undefined);

function originOf(entry: MeteredEntry, payload: Fields): Origin {
  const { teamId, deviceId, repoKey, clientTimestamp, receivedAt } = entry;
  return {
    source: TELEMETRY,
    teamId,
    deviceId,
    repoKey,
    session: readId(payload.sessionId) ?? "",
    branch: text(payload.branch) ?? text(payload.gitBranch) ?? "",
    model:
      text(payload.model) ??
      text(fields(payload.message).model) ??
      text(payload.modelVersion) ??
      readAttributeModel(attributesOf(payload)) ??
      "",
    at: readInstant(payload.at) ?? readInstant(clientTimestamp) ?? receivedAt,
  };
}
