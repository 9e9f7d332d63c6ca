/** Gemini CLI: one JSON document; a message holds its text, its tool calls with their results, and its tokens. */
import { asCount, asInstant, asRecord, asRecords, asText, type Fields, isRecord, parseJson } from "./read.ts";
import {
  commitsIn,
  type Edit,
  editOfWhole,
  editsOfDiff,
  type Step,
  type Transcript,
  toolType,
  type Usage,
} from "./transcript.ts";

export function readGeminiCli(text: string): Transcript {
  const document = asRecord(parseJson(text));
  const sessionId = asText(document.sessionId) ?? "unknown";
  const messages: readonly unknown[] = Array.isArray(document.messages) ? document.messages : [];
  const steps = messages.map((value, i): Step => {
    const message = asRecord(value);
    const id = asText(message.id) ?? `${sessionId}#${i}`;
    const record = JSON.stringify(value);
    const at = asInstant(message.timestamp);
    if (!isRecord(value)) return { id, record, type: "unknown", tools: [], results: [] };
    if (message.type === "user")
      return { id, record, at, type: "prompt", text: asText(message.content), tools: [], results: [] };
    if (message.type !== "gemini") return { id, record, at, type: "note", tools: [], results: [] };
    const calls = asRecords(message.toolCalls);
    const tools = calls.map((call) => ({
      id: asText(call.id) ?? "",
      name: asText(call.name) ?? "",
      command: asText(asRecord(call.args).command),
    }));
    const results = calls.map((call) => ({
      id: asText(call.id) ?? "",
      edits: readEdits(call),
      commits: commitsIn(asText(call.resultDisplay) ?? ""),
    }));
    const answer = { callId: id, model: asText(message.model), usage: readUsage(id, message.tokens) };
    return { id, record, at, ...answer, type: toolType(tools) ?? "reply", tools, results };
  });
  return { agent: "gemini-cli", sessionId, steps };
}

/** Its input counts what was read from the cache, its output not what was thought. */
function readUsage(id: string, value: unknown): Usage | undefined {
  if (!isRecord(value)) return undefined;
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
  const args = asRecord(call.args);
  const path = asText(args.file_path);
  if (path === undefined) return [];
  const diff = asText(asRecord(call.resultDisplay).fileDiff);
  if (diff !== undefined) return editsOfDiff(path, diff);
  return call.name === "write_file" ? [editOfWhole(path, asText(args.content) ?? "")] : [];
}
