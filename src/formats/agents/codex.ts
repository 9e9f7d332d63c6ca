/** Codex CLI: JSON lines; a model call's items come first, then one `token_count` for all of them. */
import { isObject } from "../../kit/json.ts";
import { asCount, asDateTime, asObject, asText, type Fields, lines, parseJson } from "../values.ts";
import {
  type AgentFormat,
  commitsIn,
  editOfWhole,
  editsOfDiff,
  inside,
  type Step,
  type ToolCall,
  type ToolResult,
  type Transcript,
  toolType,
  type Usage,
} from "./transcript.ts";

export const codex: AgentFormat = { agent: "codex", read };

function read(text: string): Transcript {
  const records = lines(text).map((record) => ({ record, fields: asObject(parseJson(record)) }));
  const meta = asObject(records.find(({ fields }) => fields.type === "session_meta")?.fields.payload);
  const sessionId = asText(meta.id) ?? "unknown";
  const cwd = asText(meta.cwd);
  const branch = asText(asObject(meta.git).branch);
  let model: string | undefined;
  const steps = records.map(({ record, fields }, i): Step => {
    const id = `${sessionId}#${i}`;
    const { payload } = fields;
    if (!isObject(payload)) return { id, record, type: "unknown", tools: [], results: [] };
    if (fields.type === "turn_context") model = asText(payload.model) ?? model;
    const common = { id, record, at: asDateTime(fields.timestamp), branch, tools: [], results: [] };
    const kind = `${fields.type}/${payload.type}`;
    if (kind === "event_msg/user_message") return { ...common, type: "prompt", text: asText(payload.message) };
    const tools = readCalls(kind, payload, id);
    if (tools.length > 0) return { ...common, type: toolType(tools) ?? "note", model, tools };
    const results = readResults(kind, payload, cwd);
    if (results.length > 0) return { ...common, type: "result", results };
    const usage = kind === "event_msg/token_count" ? readUsage(sessionId, payload) : undefined;
    if (usage) return { ...common, type: "usage", model, usage, callId: usage.id };
    return isAnswer(kind, payload) ? { ...common, type: "reply", model } : { ...common, type: "note" };
  });
  return { agent: codex.agent, sessionId, steps: withCalls(steps) };
}

const isAnswer = (kind: string, { role }: Fields) =>
  kind === "response_item/reasoning" || (kind === "response_item/message" && role === "assistant");

/** Gives what a model call made the id of the count that follows. */
function withCalls(steps: readonly Step[]): Step[] {
  let callId: string | undefined;
  return steps
    .toReversed()
    .map((step) => {
      if (step.usage) callId = step.usage.id;
      else if (step.type === "prompt") callId = undefined;
      return step.tools.length > 0 || step.type === "reply" ? { ...step, callId } : step;
    })
    .toReversed();
}

/** The count has no id of the provider's: the session's running total names it, and a count that came twice stays one. */
function readUsage(sessionId: string, payload: Fields): Usage | undefined {
  const info = asObject(payload.info);
  if (!isObject(info.last_token_usage)) return undefined;
  const { input_tokens, cached_input_tokens, output_tokens } = info.last_token_usage;
  return {
    id: `${sessionId}:${asCount(asObject(info.total_token_usage).total_tokens)}`,
    input_tokens: Math.max(0, asCount(input_tokens) - asCount(cached_input_tokens)),
    output_tokens: asCount(output_tokens),
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: asCount(cached_input_tokens),
  };
}

function readCalls(kind: string, payload: Fields, fallback: string): ToolCall[] {
  if (!/^response_item\/.*_call$/.test(kind)) return [];
  const name = asText(payload.name) ?? String(payload.type).replace(/_call$/, "");
  const command = asText(asObject(parseJson(asText(payload.arguments) ?? "")).cmd);
  return [{ id: asText(payload.call_id) ?? fallback, name, command }];
}

function readResults(kind: string, payload: Fields, cwd: string | undefined): ToolResult[] {
  const id = asText(payload.call_id);
  if (id === undefined) return [];
  if (kind === "event_msg/patch_apply_end") {
    const edits = Object.entries(asObject(payload.changes)).flatMap(([file, value]) => {
      const change = asObject(value);
      const path = inside(cwd, asText(change.move_path) ?? file);
      if (change.type === "add") return [editOfWhole(path, asText(change.content) ?? "")];
      return editsOfDiff(path, asText(change.unified_diff) ?? "");
    });
    return [{ id, edits, commits: [] }];
  }
  return /^response_item\/.*_call_output$/.test(kind)
    ? [{ id, edits: [], commits: commitsIn(asText(payload.output) ?? "") }]
    : [];
}
