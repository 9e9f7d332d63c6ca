/** Copilot CLI: JSON lines of events; tokens are told once, when the session shuts down. */
import { isObject } from "../../kit/json.ts";
import { asCount, asDateTime, asObject, asText, type Fields, lines, parseJson } from "../values.ts";
import type { AgentFormat, Step, Transcript, Usage } from "./transcript.ts";

export const copilotCli: AgentFormat = { agent: "copilot-cli", read };

function read(text: string): Transcript {
  const records = lines(text).map((record) => ({ record, fields: asObject(parseJson(record)) }));
  const start = asObject(records.find(({ fields }) => fields.type === "session.start")?.fields.data);
  const sessionId = asText(start.sessionId) ?? "unknown";
  const branch = asText(asObject(start.context).branch);
  const steps = records.map(({ record, fields }, i): Step => {
    const id = asText(fields.id) ?? `${sessionId}#${i}`;
    if (!isObject(fields.data)) return { id, record, type: "unknown", tools: [], results: [] };
    const { data } = fields;
    const common = { id, record, at: asDateTime(fields.timestamp), branch, tools: [], results: [] };
    switch (fields.type) {
      case "user.message":
        return { ...common, type: "prompt", text: asText(data.content) };
      case "assistant.message":
        return { ...common, type: "reply", model: asText(data.model), callId: asText(data.apiCallId) ?? id };
      case "session.shutdown":
        return { ...common, type: "usage", model: asText(data.currentModel), usage: readUsage(sessionId, data) };
      default:
        return { ...common, type: "note" };
    }
  });
  return { agent: copilotCli.agent, sessionId, steps };
}

/** The session's sum over all its models. */
function readUsage(sessionId: string, data: Fields): Usage {
  const sum = (member: string): number =>
    Object.values(asObject(data.modelMetrics)).reduce<number>(
      (total, metrics) => total + asCount(asObject(asObject(metrics).usage)[member]),
      0,
    );
  return {
    id: `${sessionId}:shutdown`,
    input_tokens: Math.max(0, sum("inputTokens") - sum("cacheReadTokens")),
    output_tokens: sum("outputTokens"),
    cache_creation_input_tokens: sum("cacheWriteTokens"),
    cache_read_input_tokens: sum("cacheReadTokens"),
  };
}
