/** Claude Code: JSON lines, a record for each content block; blocks of one message repeat its id and usage. */
import { isObject } from "../../kit/json.ts";
import { asCount, asDateTime, asObject, asObjects, asText, type Fields, lines, parseJson } from "../values.ts";
import {
  type AgentFormat,
  commitsIn,
  distinctIds,
  type Edit,
  editOfHunk,
  editOfWhole,
  inside,
  type Step,
  type ToolCall,
  type ToolResult,
  type Transcript,
  toolType,
  type Usage,
} from "./transcript.ts";

/** What the client itself writes in the user's name. */
const NOT_TYPED = /^(?:<local-command-|<command-|Caveat: The messages below|\[Request interrupted)/;

export const claudeCode: AgentFormat = { agent: "claude-code", read };

function read(text: string): Transcript {
  const records = lines(text).map((record) => ({ record, fields: parseJson(record) }));
  const sessionId = records.map(({ fields }) => asText(asObject(fields).sessionId)).find(Boolean) ?? "unknown";
  const distinct = distinctIds();
  const steps = records.map(({ record, fields }, i): Step => {
    const id = distinct(asText(asObject(fields).uuid) ?? `${sessionId}#${i}`);
    if (!isObject(fields) || asText(fields.type) === undefined)
      return { id, record, type: "unknown", tools: [], results: [] };
    const message = asObject(fields.message);
    const blocks = asObjects(message.content);
    const common = { id, record, at: asDateTime(fields.timestamp), branch: asText(fields.gitBranch) };
    if (fields.type === "assistant") {
      const tools = blocks.filter((block) => block.type === "tool_use").map(readCall);
      const callId = asText(message.id);
      const answer = { callId, model: asText(message.model), usage: readUsage(callId, message.usage) };
      return { ...common, ...answer, type: toolType(tools) ?? "reply", tools, results: [] };
    }
    if (fields.type !== "user") return { ...common, type: "note", tools: [], results: [] };
    const results = blocks.filter((block) => block.type === "tool_result").map((block) => readResult(fields, block));
    if (results.length > 0) return { ...common, type: "result", tools: [], results };
    const text = fields.isMeta === true ? undefined : readPrompt(message);
    return { ...common, type: text === undefined ? "note" : "prompt", text, tools: [], results };
  });
  return { agent: claudeCode.agent, sessionId, steps };
}

function readPrompt(message: Fields): string | undefined {
  const blocks = asObjects(message.content);
  const texts = blocks.filter((block) => block.type === "text").map((block) => asText(block.text) ?? "");
  const text = asText(message.content) ?? asText(texts.join("\n"));
  return text === undefined || NOT_TYPED.test(text) ? undefined : text;
}

function readCall(block: Fields): ToolCall {
  return {
    id: asText(block.id) ?? "",
    name: asText(block.name) ?? "",
    command: asText(asObject(block.input).command),
  };
}

function readUsage(id: string | undefined, value: unknown): Usage | undefined {
  if (id === undefined || !isObject(value)) return undefined;
  return {
    id,
    input_tokens: asCount(value.input_tokens),
    output_tokens: asCount(value.output_tokens),
    cache_creation_input_tokens: asCount(value.cache_creation_input_tokens),
    cache_read_input_tokens: asCount(value.cache_read_input_tokens),
  };
}

function readResult(fields: Fields, block: Fields): ToolResult {
  const result = asObject(fields.toolUseResult);
  const file = asText(result.filePath);
  const path = file === undefined ? undefined : inside(asText(fields.cwd), file);
  const output = asText(result.stdout) ?? asText(block.content) ?? "";
  return {
    id: asText(block.tool_use_id) ?? "",
    edits: path === undefined ? [] : readEdits(path, result),
    commits: commitsIn(output),
  };
}

function readEdits(path: string, result: Fields): Edit[] {
  const hunks = asObjects(result.structuredPatch);
  const content = asText(result.content);
  if (hunks.length === 0) return content === undefined ? [] : [editOfWhole(path, content)];
  return hunks.flatMap((hunk) => {
    const texts = Array.isArray(hunk.lines) ? hunk.lines.filter((line) => typeof line === "string") : [];
    return editOfHunk(path, asCount(hunk.newStart), texts) ?? [];
  });
}
