/**
 * Cursor: JSON lines of messages, without times, tokens, models or results of tools; and the payloads of its hooks, which alone have edits.
 * A hook's payload (https://cursor.com/docs/agent/hooks) is a record as it is, with a `timestamp` and what `placeEdits` adds.
 */
import { sha256Hex } from "../../kit/hash.ts";
import { isObject } from "../../kit/json.ts";
import { asCount, asObject, asObjects, asText, type Fields, parseJson } from "../values.ts";
import {
  commitsOf,
  inputOf,
  instantOf,
  type Memory,
  newMemory,
  readerOf,
  sessionFacts,
  textOf,
  textOfBlocks,
  unknownKind,
  watchCommand,
} from "./reading.ts";
import type { AgentFormat, Edit, TranscriptEvent } from "./transcript.ts";

export const cursor: AgentFormat = {
  agent: "cursor",
  open: ({ path }, carry) => {
    // A sub-agent's file lies in a folder of its session.
    const [, parentId = "", sessionId = "unknown"] = /(?:([^/]+)\/subagents\/)?([^/]+?)\.jsonl$/.exec(path) ?? [];
    return readerOf({ ...newMemory(sessionId), parentId, records: 0 }, carry, read);
  },
};

interface CursorMemory extends Memory {
  /** Of a sub-agent, else "". */
  parentId: string;
  /** Lines read so far. Their numbers are their only names. */
  records: number;
}

function read(record: Fields, memory: CursorMemory): TranscriptEvent[] {
  if (typeof record.hook_event_name === "string") return readHook(record, record.hook_event_name, memory);
  const { role, type } = record;
  if (type === "turn_ended") return [];
  if (role !== "user" && role !== "assistant") return [unknownKind(asText(type))];
  memory.records++;
  const key = `${memory.sessionId}#${memory.records}`;
  const { content } = isObject(record.message) ? record.message : record;
  const events = typeof content === "string" ? [{ type: "text", text: content }] : asObjects(content);
  return [
    ...sessionFacts(memory, { parentId: memory.parentId || undefined }, undefined),
    ...events.flatMap((block, i) => readBlock(block, role, { key: `${key}:${i}`, callId: key }, memory)),
  ];
}

function readBlock(
  block: Fields,
  role: "user" | "assistant",
  { key, callId }: { readonly key: string; readonly callId: string },
  memory: CursorMemory,
): TranscriptEvent[] {
  const common = { key, sessionId: memory.sessionId };
  if (block.type === "text" && role === "user") {
    const text = memory.parentId === "" ? typedIn(block.text) : undefined;
    return text === undefined ? [] : [{ type: "prompt", ...common, text }];
  }
  if (block.type === "text") {
    const text = textOf(withoutThoughts(block.text));
    return text === undefined ? [] : [{ type: "reply", ...common, callId, text }];
  }
  if (block.type === "tool_use") {
    const toolId = asText(block.id) ?? key;
    watchCommand(memory.commits, toolId, asObject(block.input).command);
    return [
      { type: "tool-call", ...common, callId, toolId, name: asText(block.name) ?? "", input: inputOf(block.input) },
    ];
  }
  const toolId = asText(block.tool_use_id);
  if (block.type !== "tool_result" || toolId === undefined) return [];
  const output = textOfBlocks(block.content);
  const isError = block.is_error === true;
  const commits = commitsOf(memory.commits, toolId, output, isError);
  return [{ type: "tool-result", ...common, toolId, output, isError, edits: [], commits }];
}

const QUERY = "<user_query>";
/** Tags that the client puts around and beside what was typed. */
const ADDED = /^\s*<(?!user_query>)[a-z_]{1,50}>/;

/** Text that a person typed. */
function typedIn(text: unknown): string | undefined {
  if (typeof text !== "string") return undefined;
  const at = text.indexOf(QUERY);
  if (at === -1) return ADDED.test(text) ? undefined : textOf(text.trim());
  const end = text.indexOf("</user_query>", at);
  return textOf(text.slice(at + QUERY.length, end === -1 ? undefined : end).trim());
}

/** Of thoughts only a placeholder is written. */
const withoutThoughts = (text: unknown) => (typeof text === "string" ? text.replaceAll("[REDACTED]", "").trim() : text);

function readHook(record: Fields, event: string, memory: CursorMemory): TranscriptEvent[] {
  const sessionId = asText(record.conversation_id) ?? asText(record.session_id);
  if (sessionId === undefined) return [unknownKind(event)];
  if (sessionId !== memory.sessionId) Object.assign(memory, { sessionId, said: {} });
  const at = instantOf(record.timestamp);
  const roots = record.workspace_roots;
  const model = asText(record.model);
  const facts = {
    cwd: Array.isArray(roots) ? asText(roots[0]) : undefined,
    model: model === "default" ? undefined : model,
    agentVersion: asText(record.cursor_version),
  };
  const path = asText(record.file_path);
  const content = JSON.stringify([event, at, path, inputOf(record.edits)]);
  const key = `${asText(record.generation_id) ?? sessionId}:${sha256Hex(content).slice(0, 16)}`;
  const common = { sessionId, at };
  const events: TranscriptEvent[] = sessionFacts(memory, facts, at);
  if (event === "sessionEnd") events.push({ type: "end", ...common, key });
  if (!/^after(?:Tab)?FileEdit$/.test(event) || path === undefined) return events;
  const edits = asObjects(record.edits).flatMap((edit) => readEdit(path, edit));
  events.push({ type: "tool-call", ...common, key, toolId: key, name: event, input: inputOf({ file_path: path }) });
  events.push({ type: "tool-result", ...common, key: `${key}:result`, toolId: key, edits, commits: [] });
  return events;
}

/** Lines that both texts begin or end with did not change. Without a known place there is no edit. */
function readEdit(path: string, edit: Fields): Edit[] {
  const start = asCount(edit.startLine) || asCount(asObject(edit.range).start_line_number);
  if (start === 0 || typeof edit.new_string !== "string" || typeof edit.old_string !== "string") return [];
  const [before, after] = [linesOf(edit.old_string), linesOf(edit.new_string)];
  const least = Math.min(before.length, after.length);
  let head = 0;
  while (head < least && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < least - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  const [removed, added] = [before.length - head - tail, after.length - head - tail];
  if (removed === 0 && added === 0) return [];
  return [{ path, startLine: start + head, endLine: start + head + added - 1, added, removed }];
}

const linesOf = (text: string) => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));

/**
 * Adds line numbers to the edits of a hook's payload, which has only their texts. The file has these texts only while the hook runs.
 * @param payload JSON text, as the hook got it
 * @param content the file as it stands now
 * @returns JSON text; edits have a `startLine` where their new text stands once in the file
 */
export function placeEdits(payload: string, content: string): string {
  const record = parseJson(payload);
  if (!isObject(record) || !Array.isArray(record.edits)) return payload;
  const edits = record.edits.map((value: unknown) => {
    const text = asObject(value).new_string;
    if (typeof text !== "string" || text === "") return value;
    const at = content.indexOf(text);
    const isOnly = at !== -1 && content.indexOf(text, at + 1) === -1;
    return isOnly ? { ...asObject(value), startLine: content.slice(0, at).split("\n").length } : value;
  });
  return JSON.stringify({ ...record, edits });
}
