/**
 * opencode: rows of a database, updated in place, each as a JSON object with its columns and the name of its `table`: `session`, `message`,
 * and `part` with two more columns, `message` (its message's `data`, of which `role`, `modelID` and `time` are read) and `parent_id` (its
 * session's). `data` and `message` are JSON text, as stored, or the parsed value. A session's row comes before those of its messages,
 * because it has the session's facts.
 *
 * A fork copies messages and parts under new ids. A copy keeps the time at which a message was made, to the millisecond, and all of a
 * part's data: these name the events.
 */
import { sha256Hex } from "../../kit/hash.ts";
import { readCost } from "../usage.ts";
import { asCount, asObject, asObjects, asText, type Fields, parseJson, unquoted } from "../values.ts";
import {
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
  unknownKind,
  watchCommand,
} from "./reading.ts";
import type { AgentFormat, Edit, ToolResultEvent, TranscriptEvent, Usage } from "./transcript.ts";

export const opencode: AgentFormat = {
  agent: "opencode",
  open: (_, carry) => readerOf(newMemory("unknown"), carry, read),
};

const OTHER_PARTS = /^(?:agent|compaction|file|patch|reasoning|retry|snapshot|step-finish|step-start|subtask)$/;

function read(row: Fields, memory: Memory): TranscriptEvent[] {
  const sessionId = asText(row.table === "session" ? row.id : row.session_id);
  if (sessionId === undefined) return [unknownKind(asText(row.table))];
  // All sessions of a store come one after another.
  if (sessionId !== memory.sessionId) Object.assign(memory, { sessionId, said: {} });
  switch (row.table) {
    case "session":
      return readSession(row, memory);
    case "message":
      return readMessage(objectOf(row.data), asText(row.id) ?? "", memory);
    case "part":
      return readPart(row, objectOf(row.data), memory);
    default:
      return [unknownKind(asText(row.table))];
  }
}

const objectOf = (value: unknown): Fields => asObject(typeof value === "string" ? parseJson(value) : value);

function readSession(row: Fields, memory: Memory): TranscriptEvent[] {
  const title = textOf(row.title);
  const facts = {
    cwd: asText(row.directory),
    model: asText(objectOf(row.model).id),
    agentVersion: asText(row.version),
    parentId: asText(row.parent_id),
    // The default, until a model has named the session.
    title: title?.startsWith("New session - ") ? undefined : title,
  };
  return sessionFacts(memory, facts, instantOf(row.time_updated));
}

/** A key that is the same for a message and all its copies. */
function keyOfMessage(message: Fields, id: string): string {
  const created = asCount(asObject(message.time).created);
  return created === 0 ? id : `${asText(message.role) ?? ""}@${created}`;
}

function readMessage(message: Fields, id: string, memory: Memory): TranscriptEvent[] {
  const { created, completed } = asObject(message.time);
  // Before it is complete it has no tokens, and they are part of its name.
  if (message.role !== "assistant" || asCount(completed) === 0) return [];
  const { input, output, reasoning, cache } = asObject(message.tokens);
  const { read: cacheRead, write: cacheWrite } = asObject(cache);
  const counts = {
    input_tokens: asCount(input),
    output_tokens: asCount(output) + asCount(reasoning),
    cache_creation_input_tokens: asCount(cacheWrite),
    cache_read_input_tokens: asCount(cacheRead),
  };
  const tokens = Object.values(counts);
  if (tokens.every((count) => count === 0)) return [];
  const model = asText(message.modelID);
  const key = keyOfMessage(message, id);
  const usage: Usage = { id: `${model}@${asCount(created) || id}:${tokens.join(".")}`, ...counts };
  const event = {
    key: `${key}:usage`,
    sessionId: memory.sessionId,
    at: instantOf(completed),
    callId: key,
    model,
    usage,
  };
  return [{ type: "usage", ...event, costUsd: readCost(message.cost) ?? undefined }];
}

function readPart(row: Fields, data: Fields, memory: Memory): TranscriptEvent[] {
  const type = asText(data.type);
  if (type === "tool") return readTool(row, data, memory);
  if (type !== "text") return OTHER_PARTS.test(type ?? "") ? [] : [unknownKind(`part/${type ?? ""}`)];
  const message = objectOf(row.message);
  const callId = keyOfMessage(message, asText(row.message_id) ?? "");
  const common = { sessionId: memory.sessionId, at: instantOf(row.time_created) };
  if (message.role === "user") {
    const text =
      data.synthetic === true || data.ignored === true ? undefined : textOf(unquoted(asText(data.text) ?? ""));
    if (text === undefined || asText(row.parent_id) !== undefined) return [];
    const at = instantOf(asObject(message.time).created) ?? common.at;
    return [{ type: "prompt", ...common, at, key: `${callId}:${sha256Hex(text).slice(0, 12)}`, text }];
  }
  const { start, end } = asObject(data.time);
  const text = textOf(data.text);
  // A text grows until it has ended.
  if (text === undefined || asCount(end) === 0) return [];
  const key = `${callId}:${asCount(start)}`;
  return [{ type: "reply", ...common, at: instantOf(end), key, callId, model: asText(message.modelID), text }];
}

function readTool(row: Fields, data: Fields, memory: Memory): TranscriptEvent[] {
  const state = asObject(data.state);
  const status = asText(state.status) ?? "";
  const toolId = asText(data.callID) ?? asText(row.id);
  // A pending call is not written completely yet.
  if (toolId === undefined || status === "pending") return [];
  const message = objectOf(row.message);
  const callId = keyOfMessage(message, asText(row.message_id) ?? "");
  const { start, end } = asObject(state.time);
  const common = { key: `${callId}:${toolId}`, sessionId: memory.sessionId, at: instantOf(start), toolId };
  watchCommand(memory.commits, toolId, asObject(state.input).command);
  const name = asText(data.tool) ?? "";
  const call: TranscriptEvent = { type: "tool-call", ...common, callId, name, input: inputOf(state.input) };
  if (!/^(?:completed|error)$/.test(status)) return [call];
  const ended = { ...common, key: `${common.key}:result`, at: instantOf(end) };
  return [call, readResult(state, memory, ended)];
}

function readResult(
  state: Fields,
  memory: Memory,
  common: Pick<ToolResultEvent, "key" | "sessionId" | "at" | "toolId">,
): ToolResultEvent {
  const output = textOf(state.output) ?? textOf(state.error);
  const { exit } = asObject(state.metadata);
  const exitCode = Number.isSafeInteger(exit) ? (exit as number) : undefined;
  const isError = state.status === "error" || (exitCode !== undefined && exitCode !== 0);
  return {
    type: "tool-result",
    ...common,
    output,
    isError,
    exitCode,
    edits: state.status === "error" ? [] : readEdits(state),
    commits: commitsOf(memory.commits, common.toolId, output, isError),
  };
}

const MAX_FILES = 100;

function readEdits(state: Fields): Edit[] {
  const metadata = asObject(state.metadata);
  const input = asObject(state.input);
  const path = asText(input.filePath) ?? asText(metadata.filepath);
  // `files` are the files of a patch, `results` several edits of one file.
  const several = [...asObjects(metadata.files), ...asObjects(metadata.results)].slice(0, MAX_FILES);
  const edits = [metadata, ...several].flatMap((change) => {
    const file = asText(change.movePath) ?? asText(change.filePath) ?? path;
    const diff = asText(change.diff) ?? asText(change.patch);
    return file === undefined || diff === undefined ? [] : editsOfDiff(file, diff);
  });
  if (edits.length > 0 || path === undefined || typeof input.content !== "string") return edits;
  const whole = editOfWhole(path, input.content);
  // How many lines were replaced is not reported.
  return [metadata.exists === false ? whole : { path, startLine: 1, endLine: whole.endLine }];
}
