/** What the payload of a telemetry entry says of a model call: agents send what providers and OpenTelemetry write. */
import {
  readAttributeModel,
  readAttributes,
  readAttributeUsage,
  readCost,
  readRequestId,
  readUsage,
  type Usage,
} from "./usage.ts";
import { asObject, type Fields, firstOf, readId, readInstant } from "./values.ts";

export interface ReadPayload {
  readonly usage: Usage | null;
  readonly costUsd: number | null;
  readonly session: string | null;
  readonly branch: string | null;
  readonly model: string | null;
  /** Milliseconds since the epoch; null where it names no instant. */
  readonly at: number | null;
}

export function readPayload(value: unknown): ReadPayload {
  const payload = asObject(value);
  const message = asObject(payload.message);
  const attributes = { ...payload, ...readAttributes(payload.attributes) };
  const usage = findUsage(payload, message, attributes);
  return {
    usage: usage && { ...usage, requestId: usage.requestId ?? readRequestId(attributes) },
    costUsd: readCost(payload.costUsd),
    session: readSessionId(payload),
    branch: name(payload.branch) ?? name(payload.gitBranch) ?? null,
    model:
      name(payload.model) ??
      name(message.model) ??
      name(payload.modelVersion) ??
      readAttributeModel(attributes) ??
      null,
    at: readInstant(payload.at),
  };
}

/** The session that a payload names; hooks of agents spell it `session_id`. */
export const readSessionId = (payload: Fields): string | null => firstOf(payload, ["sessionId", "session_id"], readId);

const name = (value: unknown) => (typeof value === "string" ? readId(value) : undefined);

/**
 * The payload's `usage`, Gemini's `usageMetadata`, an Anthropic `message` with its id, the payload itself where its type is
 * usage, or OpenTelemetry's attributes.
 */
function findUsage(payload: Fields, message: Fields, attributes: Fields): Usage | null {
  return (
    readUsage(payload.usage) ??
    readUsage(payload.usageMetadata) ??
    readUsage(message.usage === undefined ? undefined : { ...asObject(message.usage), id: message.id }) ??
    (payload.type === "usage" ? readUsage(payload) : null) ??
    attributeUsage(attributes)
  );
}

/** Usage from attributes. An agent's span may repeat the sum of calls that an entry does not show, so it does not count. */
function attributeUsage(attributes: Fields): Usage | null {
  const operation = attributes["gen_ai.operation.name"];
  const isSum = typeof operation === "string" && /agent|workflow|execute_tool/.test(operation);
  return isSum ? null : readAttributeUsage(attributes);
}
