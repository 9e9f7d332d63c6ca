/** Copilot CLI: JSON lines of events. Each model call has a record of its usage; older versions sum up when they shut down. */
import { isObject } from "../../kit/json.ts";
import { asObject, asObjects, asText, type Fields } from "../values.ts";
import {
  type Common,
  commitsOf,
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

/** Events that say nothing, or repeat others. */
const OTHER =
  /^(?:abort|assistant\.(?:idle|intent|message_\w+|reasoning\w*|server_tool_\w+|streaming_delta|turn_\w+|usage)|(?:auto_mode_switch|capabilities|command|commands|elicitation|exit_plan_mode|external_tool|hook|mcp|model|pending_messages|permission|sampling|skill|subagent|system|user_input)\.\w+|session\.(?:\w+_(?:changed|updated|loaded)|binary_asset|compaction_\w+|error|extensions\.\w+|handoff|idle|info|plan_\w+|task_\w+|truncation|usage_\w+|warning)|tool\.(?:execution_\w+|user_requested))$/;
const SKIPPED =
  /^\{"type":"(?:assistant\.turn_\w+|hook\.\w+|session\.binary_asset|system\.message|tool\.execution_(?:start|progress|partial_\w+))"/;

export const copilotCli: AgentFormat = {
  agent: "copilot-cli",
  open: ({ path }, carry) => {
    const sessionId = /([^/]+)\/events\.jsonl$/.exec(path)?.[1] ?? /([^/]+)\.jsonl$/.exec(path)?.[1] ?? "unknown";
    return readerOf({ ...newMemory(sessionId), hasRecords: false, lastCall: "", editing: [] }, carry, read);
  },
  skips: (head) => SKIPPED.test(head),
};

interface CopilotMemory extends Memory {
  /** Whether usage has records of its own. Sums are ignored then. */
  hasRecords: boolean;
  /** The last model call, which sums are put down to. */
  lastCall: string;
  /** Tools that change a file and have no result yet. */
  editing: [toolId: string, path: string][];
}

function read(record: Fields, memory: CopilotMemory): TranscriptEvent[] {
  const type = asText(record.type) ?? "";
  const at = instantOf(record.timestamp);
  const { data } = record;
  const key = asText(record.id);
  if (!isObject(data) || key === undefined) return OTHER.test(type) ? [] : [unknownKind(asText(record.type))];
  if (type === "session.start") memory.sessionId = asText(data.sessionId) ?? memory.sessionId;
  const common = { key, sessionId: memory.sessionId, at };
  switch (type) {
    case "session.start":
    case "session.resume":
    case "session.context_changed":
    case "session.model_change":
    case "session.title_changed":
      return readFacts(data, memory, at);
    case "session.snapshot_rewind":
      return [{ type: "rewind", ...common, from: asText(data.upToEventId) }];
    case "session.usage_record":
      memory.hasRecords = true;
      return readUsage(asObject(data.usage), common);
    case "session.shutdown":
      return [...readSums(data, memory, common), { type: "end", ...common }];
    case "user.message":
      return readPrompt(record, data, common);
    case "assistant.message":
      return readAnswer(data, memory, common);
    case "tool.execution_complete":
      return [readResult(data, memory, common)];
    default:
      return OTHER.test(type) ? [] : [unknownKind(type)];
  }
}

function readFacts(data: Fields, memory: CopilotMemory, at: string | undefined): TranscriptEvent[] {
  const context = isObject(data.context) ? data.context : data;
  const facts = {
    cwd: asText(context.cwd),
    branch: asText(context.branch),
    head: asText(context.headCommit),
    model: asText(data.selectedModel) ?? asText(data.newModel),
    agentVersion: asText(data.copilotVersion),
    title: textOf(data.title),
  };
  return sessionFacts(memory, facts, at);
}

function readPrompt(record: Fields, data: Fields, common: Common): TranscriptEvent[] {
  const text = textOfBlocks(data.content);
  // Messages to skills and sub-agents were not typed by anybody.
  const isTyped = /^user\b/.test(asText(data.source) ?? "user") && record.agentId === undefined;
  return text === undefined || !isTyped ? [] : [{ type: "prompt", ...common, text }];
}

const EDITING = /^(?:apply_patch|create|edit|insert|multi_edit|str_replace\w*|write)$/;
const MAX_EDITING = 64;

function readAnswer(data: Fields, memory: CopilotMemory, common: Common): TranscriptEvent[] {
  const callId = asText(data.apiCallId) ?? common.key;
  memory.lastCall = callId;
  const model = asText(data.model);
  const text = textOfBlocks(data.content);
  const events: TranscriptEvent[] = text === undefined ? [] : [{ type: "reply", ...common, callId, model, text }];
  for (const request of asObjects(data.toolRequests)) {
    const toolId = asText(request.toolCallId);
    if (toolId === undefined) continue;
    const name = asText(request.name) ?? "";
    const { command, path } = asObject(request.arguments);
    watchCommand(memory.commits, toolId, command);
    if (EDITING.test(name))
      memory.editing = [...memory.editing, [toolId, asText(path) ?? ""] as [string, string]].slice(-MAX_EDITING);
    const input = inputOf(request.arguments);
    events.push({ type: "tool-call", ...common, key: `${common.key}:${toolId}`, callId, toolId, name, input });
  }
  return events;
}

function readUsage(usage: Fields, common: Common): TranscriptEvent[] {
  const callId = asText(usage.apiCallId) ?? asText(asObject(usage.accounting).usageId) ?? common.key;
  const tokens = usageOf(callId, usage);
  return tokens ? [{ type: "usage", ...common, callId, model: asText(usage.model), usage: tokens }] : [];
}

const MAX_MODELS = 100;

/** Sums of the whole session, one for each model; a later one includes the earlier ones. */
function readSums(data: Fields, memory: CopilotMemory, common: Common): TranscriptEvent[] {
  if (memory.hasRecords) return [];
  const models = Object.entries(asObject(data.modelMetrics)).slice(0, MAX_MODELS);
  return models.flatMap(([model, metrics]): TranscriptEvent[] => {
    const usage = usageOf(`${memory.sessionId}:${model}`, asObject(metrics).usage);
    const callId = memory.lastCall || common.key;
    return usage ? [{ type: "usage", ...common, key: `${common.key}:${model}`, callId, model, usage }] : [];
  });
}

function readResult(data: Fields, memory: CopilotMemory, common: Common): ToolResultEvent {
  const toolId = asText(data.toolCallId) ?? common.key;
  const result = asObject(data.result);
  const output = textOfBlocks(result.content) ?? textOf(asObject(data.error).message);
  const exitCode = readExitCode(data, output ?? "");
  const isError = data.success === false || (exitCode !== undefined && exitCode !== 0);
  const edits = data.success === false ? [] : readEdits(data, result, toolId, memory);
  memory.editing = memory.editing.filter(([id]) => id !== toolId);
  const commits = commitsOf(memory.commits, toolId, output, isError);
  return { type: "tool-result", ...common, toolId, output, isError, exitCode, edits, commits };
}

function readExitCode(data: Fields, output: string): number | undefined {
  const reported = asObject(data.shellExecution).exitCode;
  const code = reported ?? /<[^<>\n]{0,100}exit(?:ed with)? code:? (\d{1,10})>\s*$/.exec(output)?.[1];
  return code !== undefined && Number.isSafeInteger(Number(code)) ? Number(code) : undefined;
}

/** The edits in the diff that a tool reports. A command's output may be a diff as well, but changed nothing. */
function readEdits(data: Fields, result: Fields, toolId: string, memory: CopilotMemory): Edit[] {
  const diff = asText(result.detailedContent);
  const files = asObjects(data.fileEdits).map((file) => asText(file.path));
  const editing = memory.editing.find(([id]) => id === toolId)?.[1];
  if (diff === undefined || (files.length === 0 && editing === undefined)) return [];
  const parts = diff.split(/^(?=diff --git )/m).filter((part) => part.startsWith("diff --git "));
  return parts.slice(0, MAX_PARTS).flatMap((part, i) => {
    // An absolute path follows the letter of the side without a slash of its own.
    const named = /^\+\+\+ b\/?(.+)$/m.exec(part)?.[1];
    const path =
      (files.length === parts.length ? files[i] : undefined) ?? (parts.length === 1 && editing ? editing : named);
    return path === undefined ? [] : editsOfDiff(path, part);
  });
}

const MAX_PARTS = 100;
