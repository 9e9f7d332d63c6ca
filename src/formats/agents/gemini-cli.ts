/** Gemini CLI: one JSON document; a message holds its text, its tool calls with their results, and its tokens. */
import { isObject } from "../../kit/json.ts";
import { asCount, asDateTime, asObject, asObjects, asText, type Fields, parseJson } from "../values.ts";
import {
  type AgentFormat,
  commitsIn,
  type Edit,
  editOfWhole,
  editsOfDiff,
  type Step,
  type Transcript,
  toolType,
  type Usage,
} from "./transcript.ts";

export const geminiCli: AgentFormat = { agent: "gemini-cli", read };

function read(text: string): Transcript {
  const document = asObject(parseJson(text));
  const sessionId = asText(document.sessionId) ?? "unknown";
  const messages: readonly unknown[] = Array.isArray(document.messages) ? document.messages : [];
  const steps = messages.map((value, i): Step => {
    const message = asObject(value);
    const id = asText(message.id) ?? `${sessionId}#${i}`;
    const record = JSON.stringify(value);
    const at = asDateTime(message.timestamp);
    if (!isObject(value)) return { id, record, type: "unknown", tools: [], results: [] };
    if (message.type === "user")
      return { id, record, at, type: "prompt", text: asText(message.content), tools: [], results: [] };
    if (message.type !== "gemini") return { id, record, at, type: "note", tools: [], results: [] };
    const calls = asObjects(message.toolCalls);
    const tools = calls.map((call) => ({
      id: asText(call.id) ?? "",
      name: asText(call.name) ?? "",
      command: asText(asObject(call.args).command),
    }));
    const results = calls.map((call) => ({
      id: asText(call.id) ?? "",
      edits: readEdits(call),
      commits: commitsIn(asText(call.resultDisplay) ?? ""),
    }));
    const answer = { callId: id, model: asText(message.model), usage: readUsage(id, message.tokens) };
    return { id, record, at, ...answer, type: toolType(tools) ?? "reply", tools, results };
  });
  return { agent: geminiCli.agent, sessionId, steps };
}

/** Its input counts what was read from the cache, its output not what was thought. */
function readUsage(id: string, value: unknown): Usage | undefined {
  if (!isObject(value)) return undefined;
  return {
    id,
    input_tokens: Math.max(0, asCount(value.input) - asCount(value.cached)),
    output_tokens: asCount(value.output) + asCount(value.thoughts),
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: asCount(value.cached),
  };
}

function readEdits(call: Fields): Edit[] {
  if (call.status !== "success") return [];
  const args = asObject(call.args);
  const path = asText(args.file_path);
  if (path === undefined) return [];
  const diff = asText(asObject(call.resultDisplay).fileDiff);
  if (diff !== undefined) return editsOfDiff(path, diff);
  return call.name === "write_file" ? [editOfWhole(path, asText(args.content) ?? "")] : [];
}
