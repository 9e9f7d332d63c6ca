/**
 * Codex CLI: JSON lines. The output of a model call comes first, then its usage: a record of its own with the provider's id, or in older
 * versions a running total of the session. A fork names the session that it goes on from; older ones copied its records.
 */
import { sha256Hex } from "../../kit/hash.ts";
import { isObject } from "../../kit/json.ts";
import { asCount, asObject, asText, type Fields, parseJson } from "../values.ts";
import {
  type Common,
  commitsOf,
  editOfWhole,
  editsOfDiff,
  inputOf,
  instantOf,
  type Memory,
  newMemory,
  readerOf,
  sessionFacts,
  textOf,
  textOfBlocks,
  unknownKind,
  usageOf,
  watchCommand,
} from "./reading.ts";
import type { AgentFormat, Edit, ToolResultEvent, TranscriptEvent } from "./transcript.ts";

/** Records that say nothing, or repeat others. */
const OTHER =
  /^(?:compacted|dynamic_tools_updated|ghost_snapshot|inter_agent_communication(?:_metadata)?|realtime_item|retained_context|security_risk_score|world_state)$/;
const OTHER_EVENTS =
  /^(?:agent_(?:message|reasoning)\w*|background_event|collab_\w+|context_compacted|deprecation_notice|dynamic_tool_call_\w+|elicitation_\w+|\w+_review_mode|error|exec_\w+|guardian_\w+|hook_\w+|image_generation_\w+|item_started|mcp_\w+|model_\w+|patch_apply_\w+|plan_\w+|request_\w+|session_configured|shutdown_complete|stream_error|sub_agent_\w+|task_\w+|terminal_interaction|thread_(?:goal|settings)_\w+|token_count|turn_\w+|undo_\w+|view_image_tool_call|warning|web_search_\w+)$/;
const OTHER_ITEMS =
  /^(?:AgentMessage|CollabAgentToolCall|CommandExecution|ContextCompaction|DynamicToolCall|EnteredReviewMode|ExitedReviewMode|HookPrompt|ImageGeneration|ImageView|McpToolCall|Plan|Reasoning|Sleep|SubAgentActivity|WebSearch)$/;
const OTHER_RESPONSES =
  /^(?:agent_message|\w*compaction\w*|ghost_snapshot|message|other|reasoning|tool_search_output)$/;
const SKIPPED =
  /^\{"timestamp":"[^"]*",(?:"ordinal":\d+,)?"type":"(?:compacted|world_state|response_item","payload":\{"type":"reasoning|event_msg","payload":\{"type":"(?:agent_message|agent_reasoning|exec_command_\w+|task_complete|task_started|turn_diff))"/;

export const codex: AgentFormat = {
  agent: "codex",
  open: ({ path }, carry) => {
    const sessionId = /([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl/.exec(path)?.[1] ?? "unknown";
    const own = { records: 0, calls: 0, isOpen: false, hasRecords: false, isSubagent: false, total: {}, prompts: [] };
    return readerOf({ ...newMemory(sessionId), origin: "", model: "", ...own }, carry, read);
  },
  skips: (head) => SKIPPED.test(head),
};

interface CodexMemory extends Memory {
  /** The session for which the records now read were written: another one while they are copies; "" before it is known. */
  origin: string;
  model: string;
  /** Its records that gave events, and (`calls`) its model calls that ended. */
  records: number;
  calls: number;
  /** Whether the current model call has made something. */
  isOpen: boolean;
  /** Whether usage has records of its own. Totals are ignored then. */
  hasRecords: boolean;
  isSubagent: boolean;
  /** The last running total, where usage has no records of its own. */
  total: Readonly<Record<string, number>>;
  /** Keys of the last prompts. */
  prompts: string[];
}

const MAX_PROMPTS = 32;

function read(record: Fields, memory: CodexMemory): TranscriptEvent[] {
  const at = instantOf(record.timestamp);
  const { payload, type } = record;
  if (!isObject(payload)) return OTHER.test(asText(type) ?? "") ? [] : [unknownKind(asText(type))];
  if (type === "session_meta") return readMeta(payload, memory, at);
  const place = `${memory.origin || memory.sessionId}#${memory.records}`;
  const ordinal = Number.isSafeInteger(record.ordinal) ? `${memory.sessionId}#${record.ordinal}` : undefined;
  const payloadEvents = readPayload(asText(type), payload, memory, {
    key: ordinal ?? place,
    sessionId: memory.sessionId,
    at,
  });
  const events = ordinal === undefined ? payloadEvents.map(withContent) : payloadEvents;
  const prompts = events.flatMap((event) => (event.type === "prompt" ? [event.key] : []));
  memory.prompts = [...memory.prompts, ...prompts].slice(-MAX_PROMPTS);
  if (events.some((event) => event.type !== "unknown" && event.type !== "session")) memory.records++;
  return events;
}

/**
 * Adds a digest of the content to the key of an event without an ordinal. Its place is counted from the copied records on, so two forks may
 * have different events at the same one.
 */
function withContent(event: TranscriptEvent): TranscriptEvent {
  if (!("key" in event)) return event;
  const content =
    "text" in event ? event.text : "toolId" in event ? event.toolId : "usage" in event ? event.usage.id : "";
  return { ...event, key: `${event.key}:${sha256Hex(content).slice(0, 12)}` };
}

function readPayload(
  type: string | undefined,
  payload: Fields,
  memory: CodexMemory,
  common: Common,
): TranscriptEvent[] {
  switch (type) {
    case "turn_context":
      memory.model = asText(payload.model) ?? memory.model;
      return sessionFacts(memory, { model: asText(payload.model), cwd: asText(payload.cwd) }, common.at);
    case "token_usage_record":
      memory.hasRecords = true;
      return readUsage(asText(payload.response_id) ?? common.key, payload.usage, memory, common);
    case "response_item":
      return readResponse(payload, memory, common);
    case "event_msg":
      return readEvent(payload, memory, common);
    default:
      return OTHER.test(String(type)) ? [] : [unknownKind(type)];
  }
}

/** The first is the session's own; the others came with copied records. */
function readMeta(payload: Fields, memory: CodexMemory, at: string | undefined): TranscriptEvent[] {
  const id = asText(payload.id) ?? memory.sessionId;
  const isOwn = memory.origin === "" || id === memory.sessionId;
  if (memory.origin !== id) Object.assign(memory, { origin: id, records: 0 });
  if (!isOwn) return [];
  memory.sessionId = id;
  const { git, source } = payload;
  const spawn = asObject(asObject(asObject(source).subagent).thread_spawn);
  memory.isSubagent = isObject(source) && source.subagent !== undefined;
  const facts = {
    cwd: asText(payload.cwd),
    branch: asText(asObject(git).branch),
    head: asText(asObject(git).commit_hash),
    agentVersion: asText(payload.cli_version),
    parentId: asText(spawn.parent_thread_id) ?? asText(payload.forked_from_id),
  };
  return sessionFacts(memory, facts, at);
}

const callId = ({ origin, sessionId, calls }: CodexMemory) => `${origin || sessionId}:call-${calls + 1}`;

function readUsage(id: string, value: unknown, memory: CodexMemory, common: Common): TranscriptEvent[] {
  const usage = usageOf(id, value);
  if (!usage) return [];
  const event = { type: "usage" as const, ...common, callId: callId(memory), model: memory.model || undefined, usage };
  Object.assign(memory, { calls: memory.calls + 1, isOpen: false });
  return [event];
}

const COUNTS = ["input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens"];

/** A total is repeated when nothing was used. The first one, or one that begins anew, may hold more than the last call. */
function readTotal(info: Fields, memory: CodexMemory, common: Common): TranscriptEvent[] {
  if (memory.hasRecords || !isObject(info.total_token_usage)) return [];
  const totals = info.total_token_usage;
  const total = Object.fromEntries(COUNTS.map((name) => [name, asCount(totals[name])]));
  const difference = COUNTS.map((name) => (total[name] as number) - (memory.total[name] ?? 0));
  const isFresh = Object.keys(memory.total).length === 0 || difference.some((count) => count < 0);
  memory.total = total;
  if (difference.every((count) => count === 0)) return [];
  const used = isFresh
    ? (info.last_token_usage ?? total)
    : Object.fromEntries(COUNTS.map((name, i) => [name, difference[i] as number]));
  const id = `${memory.origin || memory.sessionId}:${COUNTS.map((name) => total[name]).join(":")}`;
  return readUsage(id, used, memory, common);
}

/** What is sent in the person's name but not typed. */
const NOT_TYPED =
  /^\s*(?:<(?:environment_context|user_instructions|user_action|user_shell_command|turn_aborted|skill|subagent_notification|hook_prompt|goal_context|recommended_plugins)\b|# AGENTS\.md instructions for )/;
/** An editor puts its context above. */
const REQUEST = "## My request for Codex:";

function readPrompt(text: string | undefined, memory: CodexMemory, common: Common): TranscriptEvent[] {
  if (memory.isOpen) Object.assign(memory, { calls: memory.calls + 1, isOpen: false });
  const at = text?.startsWith("# Context from my IDE") ? text.lastIndexOf(REQUEST) : -1;
  const typed = textOf(at === -1 ? text : text?.slice(at + REQUEST.length).trim());
  if (typed === undefined || memory.isSubagent || NOT_TYPED.test(typed)) return [];
  return [{ type: "prompt", ...common, text: typed }];
}

function readEvent(payload: Fields, memory: CodexMemory, common: Common): TranscriptEvent[] {
  const type = asText(payload.type) ?? "";
  switch (type) {
    case "user_message":
      return /^(?:environment_context|user_instructions)$/.test(asText(payload.kind) ?? "")
        ? []
        : readPrompt(asText(payload.message), memory, common);
    case "token_count":
      return readTotal(asObject(payload.info), memory, common);
    case "patch_apply_end":
      return readChanges(payload.call_id, payload.success === true, payload.changes, common);
    case "item_completed":
      return readItem(asObject(payload.item), memory, common);
    case "thread_settings_applied": {
      const { model, cwd } = asObject(payload.thread_settings);
      memory.model = asText(model) ?? memory.model;
      return sessionFacts(memory, { model: asText(model), cwd: asText(cwd) }, common.at);
    }
    case "thread_name_updated":
      return sessionFacts(memory, { title: textOf(payload.thread_name) }, common.at);
    case "thread_rolled_back": {
      const from = memory.prompts.at(-Math.max(1, asCount(payload.num_turns)));
      if (from !== undefined) memory.prompts = memory.prompts.slice(0, memory.prompts.indexOf(from));
      return [{ type: "rewind", ...common, from }];
    }
    default:
      return OTHER_EVENTS.test(type) ? [] : [unknownKind(`event_msg/${type}`)];
  }
}

function readItem(item: Fields, memory: CodexMemory, common: Common): TranscriptEvent[] {
  const type = asText(item.type) ?? "";
  if (type === "UserMessage") return readPrompt(textOfBlocks(item.content), memory, common);
  if (type === "FileChange") return readChanges(item.id, item.status === "completed", item.changes, common);
  return OTHER_ITEMS.test(type) ? [] : [unknownKind(`item_completed/${type}`)];
}

const MAX_FILES = 1000;

function readChanges(id: unknown, isDone: boolean, changes: unknown, common: Common): ToolResultEvent[] {
  const files = isDone ? Object.entries(asObject(changes)).slice(0, MAX_FILES) : [];
  const edits = files.flatMap(([file, value]) => editsOfChange(file, asObject(value)));
  const toolId = asText(id) ?? common.key;
  return [{ type: "tool-result", ...common, toolId, isError: !isDone, edits, commits: [] }];
}

function editsOfChange(file: string, change: Fields): Edit[] {
  const path = asText(change.move_path) ?? file;
  const content = typeof change.content === "string" ? change.content : "";
  if (change.type === "add") return [editOfWhole(path, content)];
  if (change.type !== "delete") return editsOfDiff(path, asText(change.unified_diff) ?? "");
  const { added = 0 } = editOfWhole(path, content);
  return [{ path, startLine: 1, endLine: 0, added: 0, removed: added }];
}

function readResponse(payload: Fields, memory: CodexMemory, common: Common): TranscriptEvent[] {
  const type = asText(payload.type) ?? "";
  if (/_call$/.test(type)) {
    memory.isOpen = true;
    return [readCall(type, payload, memory, common)];
  }
  if (/_call_output$/.test(type)) return [readOutput(payload, memory, common)];
  if (!OTHER_RESPONSES.test(type)) return [unknownKind(`response_item/${type}`)];
  const text = type === "message" && payload.role === "assistant" ? textOfBlocks(payload.content) : undefined;
  if (text === undefined) return [];
  memory.isOpen = true;
  const model = memory.model || undefined;
  return [{ type: "reply", ...common, callId: callId(memory), model, text }];
}

function readCall(type: string, payload: Fields, memory: CodexMemory, common: Common): TranscriptEvent {
  const toolId = asText(payload.call_id) ?? asText(payload.id) ?? common.key;
  const written = payload.arguments ?? payload.input ?? payload.action;
  const parsed = typeof written === "string" && written.startsWith("{") ? parseJson(written) : undefined;
  const input = parsed ?? written;
  const { cmd, command } = asObject(input);
  watchCommand(memory.commits, toolId, cmd ?? command);
  const name = asText(payload.name) ?? type.replace(/_call$/, "");
  return { type: "tool-call", ...common, callId: callId(memory), toolId, name, input: inputOf(input) };
}

const EXIT =
  /^(?:Chunk ID: .*\n)?(?:Wall time: .*\n)?(?:Output:\n)?(?:Exit code: |Process exited with code )(-?\d{1,10})(?:\n|$)/;

function readOutput(payload: Fields, memory: CodexMemory, common: Common): ToolResultEvent {
  const toolId = asText(payload.call_id) ?? common.key;
  const written = payload.output;
  const wrapped = typeof written === "string" && written.startsWith('{"output":') ? asObject(parseJson(written)) : {};
  const content = isObject(written) ? written.content : written;
  const output = typeof wrapped.output === "string" ? textOf(wrapped.output) : textOfBlocks(content);
  const code = asObject(wrapped.metadata).exit_code ?? EXIT.exec(output ?? "")?.[1];
  const exitCode = Number.isSafeInteger(Number(code ?? undefined)) ? Number(code) : undefined;
  const isError = asObject(written).success === false || (exitCode !== undefined && exitCode !== 0);
  const commits = commitsOf(memory.commits, toolId, output, isError);
  return { type: "tool-result", ...common, toolId, output, isError, exitCode, edits: [], commits };
}
