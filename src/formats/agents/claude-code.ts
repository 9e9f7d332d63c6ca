/**
 * Claude Code: JSON lines, a record for each content block; blocks of one message repeat its id and usage. Sub-agents write files of their
 * own under the session's id, or in older versions into the session's file. What their tools changed shows in the calls alone.
 */
import { asCount, asDateTime, asObject, asObjects, asText, type Fields } from "../values.ts";
import {
  type Common,
  commitsOf,
  editOfWhole,
  editsOfDiff,
  inputOf,
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
import type { AgentFormat, Edit, ToolResultEvent, TranscriptEvent, UsageEvent } from "./transcript.ts";

/** Kinds that say nothing of a session, or say again what others do. */
const OTHER_KINDS =
  "agent-color|agent-name|agent-setting|api-request|api-request-blob|api-request-resumed|api-request-shape|artifact-autoreact-ledger|artifact-comment-monitor|atis-latch|attribution-snapshot|bridge-session|content-replacement|continued-in|cost-state|data-flow-incomplete|data-flow-records|derived-from|dev-mods|ended-by-model|file-history-delta|file-history-snapshot|fork-context-ref|frame-link|history-suppression|host-row|hybrid-organization|isolation-latch|last-prompt|memory-mode|mode|observer-ref|permission-mode|pr-link|queue-operation|relocated|repl-mode|resume-head-vouch|session-owner|speculation-accept|summary|system|tag|tools-used|worktree-state";
const OTHER = new RegExp(`^(?:${OTHER_KINDS}|attachment|progress)$`);
const SKIPPED_KIND = new RegExp(`^\\{"type":"(?:${OTHER_KINDS})"`);
/** The beginning of a record that is skipped: members with a plain value, then the one that decides. */
const SKIPPED_PART =
  /^\{(?:"\w+":(?:null|true|false|\d+|"[^"\\]*(?:\\.[^"\\]*)*"),)*(?:"attachment":\{"type":"(?!queued_command")|"type":"(?:progress","data":\{"type":"(?!agent_progress")|system"))/;

export const claudeCode: AgentFormat = {
  agent: "claude-code",
  open: ({ path }, carry) => readerOf({ ...newMemory(idOfFile(path)), foreign: [], pending: [] }, carry, read),
  skips: (head) => SKIPPED_KIND.test(head) || SKIPPED_PART.test(head),
};

interface ClaudeMemory extends Memory {
  /** Messages whose ids are not the provider's, each with the time of its first record. */
  foreign: [id: string, at: string][];
  /** Edits that tools were asked for and have not answered yet. */
  pending: [toolId: string, edit: Edit][];
}

/** A session's file is named by its id; those of its sub-agents lie in a folder of that name. */
function idOfFile(path: string): string {
  return /([^/]+)\/subagents\/[^/]*$/.exec(path)?.[1] ?? /([^/]+?)(?:\.jsonl)?$/.exec(path)?.[1] ?? "unknown";
}

function read(record: Fields, memory: ClaudeMemory): TranscriptEvent[] {
  const sessionId = asText(record.sessionId) ?? memory.sessionId;
  if (sessionId !== memory.sessionId) Object.assign(memory, { sessionId, said: {} });
  const at = asDateTime(record.timestamp);
  const key = asText(record.uuid) ?? asText(asObject(record.message).id);
  switch (record.type) {
    case "user":
    case "assistant": {
      if (key === undefined) return [unknownKind(`${record.type} without id`)];
      const common = { key, sessionId, at };
      const events = record.type === "user" ? readUser(record, memory, common) : readAnswer(record, memory, common);
      return [...readFacts(record, memory, at), ...events];
    }
    case "attachment":
      return readQueued(asObject(record.attachment), { key: key ?? "", sessionId, at });
    case "progress":
      return readProgress(asObject(record.data), memory, { key: key ?? "", sessionId, at });
    case "ai-title":
    case "custom-title":
      return sessionFacts(memory, { title: textOf(record.customTitle) ?? textOf(record.aiTitle) }, at);
    default:
      return OTHER.test(asText(record.type) ?? "") ? [] : [unknownKind(asText(record.type))];
  }
}

function readFacts(record: Fields, memory: ClaudeMemory, at: string | undefined) {
  // A sub-agent's folder, branch and model are not the session's.
  if (record.isSidechain === true) return [];
  // With --fork-session only the copied records name the session that they come from.
  const origin = asText(asObject(record.forkedFrom).sessionId) ?? asText(record.requestSessionId);
  const facts = {
    cwd: asText(record.cwd),
    branch: asText(record.gitBranch),
    agentVersion: asText(record.version),
    model: readModel(asObject(record.message)),
    parentId: origin === record.sessionId ? undefined : origin,
  };
  return sessionFacts(memory, facts, at);
}

/** The client's own messages, mostly of errors, name a model that does not exist. */
const readModel = (message: Fields) => (message.model === "<synthetic>" ? undefined : asText(message.model));

/** What the client itself writes in the person's name. */
const NOT_TYPED =
  /^\s*(?:<(?:local-command-|command-|bash-|ide_|task-notification|system-reminder|user-prompt-submit-hook|session-start-hook|teammate-message|tick>)|Caveat: The messages below|\[Request interrupted)/;
const TYPED_BY = /^(?:human|person|composer|remote|voice-call)$/;

const isTyped = ({ isMeta, isSidechain, isCompactSummary, promptSource, origin }: Fields) =>
  isMeta !== true &&
  isSidechain !== true &&
  isCompactSummary !== true &&
  promptSource !== "system" &&
  TYPED_BY.test(asText(asObject(origin).kind) ?? "human");

/** Text that a person typed; undefined where the client wrote all of it. */
function readPrompt(content: unknown): string | undefined {
  if (!Array.isArray(content))
    return typeof content === "string" && NOT_TYPED.test(content) ? undefined : textOf(content);
  const blocks = asObjects(content);
  const typed = blocks.filter(
    ({ type, text }) => type !== "text" || (typeof text === "string" && !NOT_TYPED.test(text)),
  );
  return typed.some(({ type }) => type === "text") ? textOfBlocks(typed) : undefined;
}

function readUser(record: Fields, memory: ClaudeMemory, common: Common): TranscriptEvent[] {
  const { content } = asObject(record.message);
  const results = asObjects(content).filter(({ type }) => type === "tool_result");
  if (results.length > 0)
    return results.map((block, i) => {
      // Beside its blocks the record has details of one tool.
      const detail = i === 0 ? asObject(record.toolUseResult) : {};
      return readResult(block, detail, memory, { ...common, key: `${common.key}:${i}` });
    });
  const text = isTyped(record) ? readPrompt(content) : undefined;
  return text === undefined ? [] : [{ type: "prompt", ...common, text }];
}

/** A prompt that was typed while the agent worked. */
function readQueued(attachment: Fields, common: Common): TranscriptEvent[] {
  const { type, prompt, commandMode = "prompt" } = attachment;
  const text =
    type === "queued_command" && commandMode === "prompt" && isTyped(attachment) ? readPrompt(prompt) : undefined;
  return text === undefined || common.key === "" ? [] : [{ type: "prompt", ...common, text }];
}

/** The usage of a sub-agent, as reported while it works. */
function readProgress(data: Fields, memory: ClaudeMemory, common: Common): TranscriptEvent[] {
  const record = data.type === "agent_progress" ? asObject(data.message) : {};
  return common.key === "" ? [] : readUsageOf(record, memory, common);
}

function readAnswer(record: Fields, memory: ClaudeMemory, common: Common): TranscriptEvent[] {
  const message = asObject(record.message);
  const model = readModel(message);
  const callId = asText(message.id) ?? common.key;
  if (model === undefined && message.model !== undefined) return [];
  const events = asObjects(message.content).flatMap((block, i): TranscriptEvent[] => {
    const own = { ...common, key: `${common.key}:${i}`, callId };
    const text = block.type === "text" ? textOf(block.text) : undefined;
    if (text !== undefined) return [{ type: "reply", ...own, model, text }];
    const toolId = asText(block.id);
    if (block.type !== "tool_use" || toolId === undefined) return [];
    watchCommand(memory.commits, toolId, asObject(block.input).command);
    noteEdit(memory, toolId, block);
    return [{ type: "tool-call", ...own, toolId, name: asText(block.name) ?? "", input: inputOf(block.input) }];
  });
  return [...events, ...readUsageOf(record, memory, common)];
}

function readUsageOf(record: Fields, memory: ClaudeMemory, common: Common): UsageEvent[] {
  const message = asObject(record.message);
  const callId = asText(message.id) ?? common.key;
  const usage = usageOf(usageId(callId, memory, common.at), message.usage, asText(record.requestId));
  return usage
    ? [{ type: "usage", ...common, key: `${common.key}:usage`, callId, model: readModel(message), usage }]
    : [];
}

const MAX_PENDING = 64;

/** Remembers the edit that a tool is asked for. The call does not say where in the file it will be. */
function noteEdit(memory: ClaudeMemory, toolId: string, { name, input }: Fields): void {
  const { file_path, notebook_path, content } = asObject(input);
  const path = asText(file_path) ?? asText(notebook_path);
  if (path === undefined || !/^(?:Write|Edit|MultiEdit|NotebookEdit)$/.test(asText(name) ?? "")) return;
  const edit = typeof content === "string" ? editOfWhole(path, content) : { path };
  memory.pending = [...memory.pending, [toolId, edit] as [string, Edit]].slice(-MAX_PENDING);
}

/** The edit that a tool was asked for. No call says how many lines were replaced, so only a new file has counts. */
function pendingEdit(memory: ClaudeMemory, toolId: string, output = ""): Edit[] {
  const [, edit] = memory.pending.find(([id]) => id === toolId) ?? [];
  if (!edit) return [];
  const { path, startLine, endLine } = edit;
  return [output.startsWith("File created") ? edit : { path, startLine, endLine }];
}

const MAX_FOREIGN = 32;

/** Gateways give ids of their own, and some the same one again in another session: the time keeps those apart. */
function usageId(id: string, memory: ClaudeMemory, at = ""): string {
  if (id.startsWith("msg_")) return id;
  const known = memory.foreign.find(([other]) => other === id);
  if (!known) memory.foreign = [...memory.foreign, [id, at] as [string, string]].slice(-MAX_FOREIGN);
  return `${id}@${known?.[1] ?? at}`;
}

function readResult(block: Fields, detail: Fields, memory: ClaudeMemory, common: Common): ToolResultEvent {
  const toolId = asText(block.tool_use_id) ?? common.key;
  const output = textOfBlocks(block.content);
  const isError = block.is_error === true;
  const edits = Object.keys(detail).length > 0 ? readEdits(detail) : pendingEdit(memory, toolId, output);
  memory.pending = memory.pending.filter(([id]) => id !== toolId);
  return {
    type: "tool-result",
    ...common,
    toolId,
    output,
    isError,
    exitCode: readExitCode(output, isError, detail),
    edits: isError ? [] : edits,
    commits: commitsOf(memory.commits, toolId, output, isError),
  };
}

function readExitCode(output: string | undefined, isError: boolean, detail: Fields): number | undefined {
  const match = /^(?:Error: )?Exit code (\d{1,3})(?:\n|$)/.exec(output ?? "");
  if (isError && match) return Number(match[1]);
  // The exit code is not known of a command that still runs or was stopped, or whose code was reinterpreted.
  const { stdout, interrupted, backgroundTaskId, returnCodeInterpretation } = detail;
  const ended = typeof stdout === "string" && interrupted !== true && !backgroundTaskId && !returnCodeInterpretation;
  return ended && !isError ? 0 : undefined;
}

function readEdits(detail: Fields): Edit[] {
  const path = asText(detail.filePath);
  if (path === undefined) return [];
  const hunks = asObjects(detail.structuredPatch);
  if (hunks.length > 0) return editsOfDiff(path, hunks.map(diffOfHunk).join("\n"));
  const { content } = detail;
  return typeof content === "string" && detail.type !== "update" ? [editOfWhole(path, content)] : [];
}

/** The start of its hunks counts from 1 even when no line is left, unlike a unified diff's. */
function diffOfHunk({ oldStart, newStart, lines }: Fields): string {
  const texts = Array.isArray(lines) ? lines.filter((line) => typeof line === "string") : [];
  return [`@@ -${asCount(oldStart)} +${Math.max(1, asCount(newStart))} @@`, ...texts].join("\n");
}
