/**
 * Gemini CLI: JSON lines of messages, one document in older versions. A message is written when it was answered and again with
 * its tools and their results, under the same id; `$set` writes all of them again.
 */
import { isObject } from "../../kit/json.ts";
import { asObject, asObjects, asText, type Fields, parseJson } from "../values.ts";
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

export const geminiCli: AgentFormat = {
  agent: "gemini-cli",
  open: ({ path }, carry) => {
    // A sub-agent's file lies in a folder of its session's name.
    const [, parentId = "", sessionId = "unknown"] = /(?:^|\/)chats\/(?:([^/]+)\/)?([^/]+?)\.jsonl?$/.exec(path) ?? [];
    return readerOf({ ...newMemory(sessionId), parentId }, carry, read);
  },
  skips: (head) => /^\{"\$set":\{"lastUpdated":"[^"]*"\}\}/.test(head),
  recordsOf,
};

interface GeminiMemory extends Memory {
  /** Of a sub-agent, else "". */
  parentId: string;
}

function recordsOf(document: string): readonly string[] | undefined {
  const { messages, ...header } = asObject(parseJson(document));
  if (!Array.isArray(messages) || typeof header.sessionId !== "string") return undefined;
  try {
    return [header, ...messages].map((record) => JSON.stringify(record));
  } catch {
    return undefined;
  }
}

const OTHER = /^(?:info|warning|error)$/;

function read(record: Fields, memory: GeminiMemory): TranscriptEvent[] {
  const { $rewindTo: rewindTo, $set: set } = record;
  if (typeof rewindTo === "string" && rewindTo !== "") {
    const { sessionId } = memory;
    return [{ type: "rewind", key: `${sessionId}:rewind:${rewindTo}`, sessionId, from: rewindTo }];
  }
  if (isObject(set)) return readHeader(set, memory);
  if (typeof record.sessionId === "string" && record.type === undefined) return readHeader(record, memory);
  return readMessage(record, memory);
}

function readHeader(header: Fields, memory: GeminiMemory): TranscriptEvent[] {
  memory.sessionId = asText(header.sessionId) ?? memory.sessionId;
  const facts = { parentId: memory.parentId || undefined, title: textOf(header.summary) };
  return [
    ...sessionFacts(memory, facts, instantOf(header.startTime)),
    ...asObjects(header.messages).flatMap((message) => readMessage(message, memory)),
  ];
}

function readMessage(message: Fields, memory: GeminiMemory): TranscriptEvent[] {
  const key = asText(message.id);
  const type = asText(message.type);
  if (OTHER.test(type ?? "")) return [];
  if (key === undefined || (type !== "user" && type !== "gemini")) return [unknownKind(type)];
  const common = { key, sessionId: memory.sessionId, at: instantOf(message.timestamp) };
  return type === "user" ? readPrompt(message.content, memory, common) : readAnswer(message, memory, common);
}

/** The client's own words to the model, and commands to the client. */
const NOT_TYPED =
  /^\s*(?:<(?:session_context|hook_context|state_snapshot|loaded_context)>|(?:System: )?Please continue\.\s*$|[/?][\w:-]*(?:\s|$))/;
/** Hooks add to what was typed, behind it or, as a session begins, before it. */
const HOOK_CONTEXT = /<hook_context>[\s\S]*?(?:<\/hook_context>|$)/g;
const WORKSPACE = /\*\*Workspace Directories:\*\*\n {2}- (.{1,1024})\n/;

function readPrompt(content: unknown, memory: GeminiMemory, common: Common): TranscriptEvent[] {
  const text = Array.isArray(content) ? textOfBlocks(asObjects(content).map(namePicture)) : textOf(content);
  if (text?.startsWith("<session_context>")) {
    const cwd = WORKSPACE.exec(text)?.[1];
    return sessionFacts(memory, { cwd }, common.at);
  }
  const rest = text?.replace(HOOK_CONTEXT, "");
  const typed = rest === text ? text : rest?.trim();
  if (!typed || memory.parentId !== "" || NOT_TYPED.test(typed)) return [];
  return [{ type: "prompt", ...common, text: typed }];
}

const namePicture = (part: Fields): Fields =>
  part.inlineData === undefined && part.fileData === undefined ? part : { type: "image" };

function readAnswer(message: Fields, memory: GeminiMemory, common: Common): TranscriptEvent[] {
  const model = asText(message.model);
  const callId = common.key;
  const text = textOfBlocks(message.content);
  const usage = usageOf(callId, message.tokens);
  const events: TranscriptEvent[] = sessionFacts(memory, { model }, common.at);
  if (text !== undefined) events.push({ type: "reply", ...common, key: `${callId}:text`, callId, model, text });
  if (usage) events.push({ type: "usage", ...common, key: `${callId}:usage`, callId, model, usage });
  for (const call of asObjects(message.toolCalls)) {
    const toolId = asText(call.id);
    if (toolId === undefined) continue;
    const own = { ...common, key: `${callId}:${toolId}`, toolId };
    watchCommand(memory.commits, toolId, asObject(call.args).command);
    events.push({ type: "tool-call", ...own, callId, name: asText(call.name) ?? "", input: inputOf(call.args) });
    if (/^(?:success|error|cancelled)$/.test(asText(call.status) ?? "")) events.push(readResult(call, memory, own));
  }
  return events;
}

function readResult(call: Fields, memory: GeminiMemory, common: Common & { toolId: string }): ToolResultEvent {
  const response = asObject(asObject(asObjects(call.result)[0]?.functionResponse).response);
  const output = textOf(response.output) ?? textOf(response.error) ?? textOf(call.result);
  const exitCode = call.name === "run_shell_command" ? readExitCode(output ?? "") : undefined;
  const isError = call.status !== "success" || (exitCode ?? 0) !== 0 || output?.startsWith(BLOCKED) === true;
  // For a command, only its output is shown.
  const shown = textOf(call.resultDisplay) ?? output;
  return {
    type: "tool-result",
    ...common,
    key: `${common.key}:result`,
    at: instantOf(call.timestamp) ?? common.at,
    output,
    isError,
    exitCode,
    edits: call.status === "success" ? readEdits(call) : [],
    commits: commitsOf(memory.commits, common.toolId, shown, isError),
  };
}

/** The answer to a command that was not run, which has the status of a success. What a command prints comes behind a heading. */
const BLOCKED = "Command injection detected";

/** Newer versions report the exit code only of a command that failed. */
function readExitCode(output: string): number | undefined {
  const match = /^Exit Code: (\d{1,10})$/m.exec(output);
  if (match) return Number(match[1]);
  return /^(?:<untrusted_context>\n)?Output: /.test(output) && !/^Signal: /m.test(output) ? 0 : undefined;
}

function readEdits(call: Fields): Edit[] {
  const { fileDiff, filePath } = asObject(call.resultDisplay);
  const args = asObject(call.args);
  const path = asText(filePath) ?? asText(args.file_path);
  if (path === undefined) return [];
  if (typeof fileDiff === "string") return editsOfDiff(path, fileDiff);
  if (call.name !== "write_file") return [];
  // How many lines were replaced is not reported.
  const { startLine, endLine } = editOfWhole(path, asText(args.content) ?? "");
  return [{ path, startLine, endLine }];
}
