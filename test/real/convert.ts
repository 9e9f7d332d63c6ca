/**
 * Turns what coding agents write about themselves into what the service takes: telemetry entries and trace sessions.
 * A transcript is read once into steps, a record each with its events (`src/formats/agents`); both outputs are built from those.
 */
import type { Span } from "../../src/capture/spans.ts";
import { AGENTS } from "../../src/formats/agents/agents.ts";
import type { Edit, Tokens, ToolCallEvent, TranscriptEvent, Usage } from "../../src/formats/agents/transcript.ts";
import { asObject } from "../../src/formats/values.ts";
import type { TraceSession } from "./traces.ts";

/** `note` is all that an agent writes down beside the conversation, `unknown` what is no record of it at all. */
type StepType = "prompt" | "reply" | "tool" | "edit" | "commit" | "result" | "usage" | "note" | "unknown";

/** One record of a transcript. */
interface Step {
  /** The record as it stands in its file. */
  readonly record: string;
  readonly type: StepType;
  readonly at: string | undefined;
  readonly events: readonly TranscriptEvent[];
}

export interface Transcript {
  readonly agent: string;
  readonly sessionId: string;
  readonly steps: readonly Step[];
}

/** One entry for each record; `record` is the record's own text. */
export interface TelemetryEntry {
  readonly seq: number;
  readonly clientTimestamp?: string;
  readonly payload: {
    readonly type: StepType;
    readonly sessionId: string;
    readonly agent: string;
    readonly model?: string | undefined;
    readonly branch?: string | undefined;
    readonly text?: string | undefined;
    readonly usage?: Usage | undefined;
    readonly record: string;
    /** Bytes of the record, where it was too long to be sent whole. */
    readonly recordBytes?: number;
  };
}

/** What a capture tool knows of a session beside its transcript. */
export interface SessionFacts {
  readonly branch?: string;
  readonly files?: readonly string[];
  readonly commits?: readonly { readonly sha: string; readonly at: string }[];
}

/** The records of a JSON-lines file: every line that is not empty. */
export const lines = (text: string): string[] => text.split("\n").filter((line) => line.trim() !== "");

/** @param path where it lies, as the agent names it */
export function readTranscript(format: string, path: string, text: string): Transcript {
  const agent = AGENTS.find((known) => known.agent === format);
  if (!agent) throw new Error(`No reader for transcripts of ${format}`);
  const reader = agent.open({ path });
  const read = (record: string): Step => {
    const events = reader.read(record);
    const at = events.map((event) => ("at" in event ? event.at : undefined)).find(Boolean);
    return { record, type: typeOf(events), at, events };
  };
  const document = agent.recordsOf?.(text);
  // The head of a document is no message.
  const steps = document ? document.map(read).slice(1) : lines(text).map(read);
  const sessionId = ofType(steps, "session")[0]?.sessionId ?? "unknown";
  return { agent: agent.agent, sessionId, steps };
}

const EDITING = /^(?:Edit|MultiEdit|Write|NotebookEdit|apply_patch|write_file|replace|edit)$/;
const COMMITTING = /\bgit\b[^|;&]*\bcommit\b/;

/** What a record is: the most telling of its events. */
function typeOf(events: readonly TranscriptEvent[]): StepType {
  const has = (type: TranscriptEvent["type"]) => events.some((event) => event.type === type);
  const tools = events.filter((event): event is ToolCallEvent => event.type === "tool-call");
  const command = ({ input }: ToolCallEvent) => String(asObject(input).command ?? asObject(input).cmd ?? "");
  if (has("prompt")) return "prompt";
  if (tools.some((tool) => EDITING.test(tool.name))) return "edit";
  if (tools.some((tool) => COMMITTING.test(command(tool)))) return "commit";
  if (tools.length > 0) return "tool";
  if (has("tool-result")) return "result";
  if (has("reply")) return "reply";
  if (has("usage")) return "usage";
  return has("unknown") ? "unknown" : "note";
}

/** Events of one type, of all steps. */
function ofType<T extends TranscriptEvent["type"]>(steps: readonly Step[], type: T) {
  return steps.flatMap(({ events }) =>
    events.filter((event): event is Extract<TranscriptEvent, { type: T }> => event.type === type),
  );
}

/** The transcript as it stood when it had only its first steps. */
export function firstSteps(transcript: Transcript, count: number): Transcript {
  return { ...transcript, steps: transcript.steps.slice(0, count) };
}

/** A payload may have 64 KiB as JSON; this leaves room for its other members. */
const MOST_RECORD_BYTES = 48 * 1024;

/** Entries for the records of a transcript, numbered from `firstSeq`. */
export function telemetryOf(transcript: Transcript, facts: SessionFacts = {}, firstSeq = 1): TelemetryEntry[] {
  let branch: string | undefined;
  return transcript.steps.map((step, i) => {
    branch = ofType([step], "session").findLast((event) => event.branch !== undefined)?.branch ?? branch;
    const [usage] = ofType([step], "usage");
    return {
      seq: firstSeq + i,
      ...(step.at === undefined ? {} : { clientTimestamp: step.at }),
      payload: {
        type: step.type,
        sessionId: transcript.sessionId,
        agent: transcript.agent,
        model: usage?.model ?? ofType([step], "reply")[0]?.model,
        branch: branch ?? facts.branch,
        text: ofType([step], "prompt")[0]?.text,
        usage: usage?.usage,
        ...cutRecord(step.record),
      },
    };
  });
}

function cutRecord(record: string): { record: string; recordBytes?: number } {
  let kept = record;
  while (Buffer.byteLength(JSON.stringify(kept)) > MOST_RECORD_BYTES)
    kept = kept.slice(0, Math.floor(kept.length * 0.9));
  return kept === record ? { record } : { record: kept.toWellFormed(), recordBytes: Buffer.byteLength(record) };
}

/** A path as the repository knows it. */
function inside(cwd: string | undefined, edit: Edit): Edit {
  const { path } = edit;
  return cwd !== undefined && path.startsWith(`${cwd}/`) ? { ...edit, path: path.slice(cwd.length + 1) } : edit;
}

/** The session of a transcript: a span a turn, under it one a model call, under that one a tool call. */
export function sessionOf(transcript: Transcript, facts: SessionFacts = {}): TraceSession {
  const { steps } = transcript;
  const times = steps.flatMap((step) => step.at ?? []).sort((a, b) => Date.parse(a) - Date.parse(b));
  const told = ofType(steps, "session");
  const results = ofType(steps, "tool-result");
  const cwd = told.find((event) => event.cwd !== undefined)?.cwd;
  const edited = results.flatMap((result) => result.edits.map((edit) => inside(cwd, edit).path));
  const commits = [
    ...results.flatMap(({ commits, at }) => commits.map((sha) => ({ sha, at }))),
    ...(facts.commits ?? []),
  ];
  const usage = sumUsage(steps);
  const spans = spansOf(steps, cwd);
  const hasReply = spans.some((span) => span.kind === "llm");
  return {
    id: transcript.sessionId,
    agent: transcript.agent,
    model: told.find((event) => event.model !== undefined)?.model,
    startedAt: times[0],
    endedAt: times.at(-1),
    branch: told.find((event) => event.branch !== undefined)?.branch ?? facts.branch,
    outcome: commits.length > 0 ? "committed" : hasReply ? "completed" : "abandoned",
    prompts: ofType(steps, "prompt").map(({ at, text }) => ({ at, text })),
    files: [...new Set([...edited, ...(facts.files ?? [])])].sort(),
    commits,
    ...(usage ? { usage } : {}),
    spans,
  };
}

/** Usage of a transcript: each message once, by the record that tells the largest output. */
function usageByMessage(steps: readonly Step[]): Map<string, { readonly callId: string; readonly usage: Usage }> {
  const most = new Map<string, { readonly callId: string; readonly usage: Usage }>();
  for (const { callId, usage } of ofType(steps, "usage")) {
    if (usage.output_tokens >= (most.get(usage.id)?.usage.output_tokens ?? 0)) most.set(usage.id, { callId, usage });
  }
  return most;
}

/** Tokens of a transcript, each message counted once; undefined when it tells of none. */
export function sumUsage(steps: readonly Step[]): Tokens | undefined {
  const all = [...usageByMessage(steps).values()];
  if (all.length === 0) return undefined;
  const sum = (member: keyof Tokens) => all.reduce((total, { usage }) => total + usage[member], 0);
  return {
    input_tokens: sum("input_tokens"),
    output_tokens: sum("output_tokens"),
    cache_creation_input_tokens: sum("cache_creation_input_tokens"),
    cache_read_input_tokens: sum("cache_read_input_tokens"),
  };
}

/** Keeps ids apart that a transcript repeats: the second of a kind becomes `id#2`. */
function distinctIds(): (id: string) => string {
  const seen = new Map<string, number>();
  return (id) => {
    const count = (seen.get(id) ?? 0) + 1;
    seen.set(id, count);
    return count === 1 ? id : `${id}#${count}`;
  };
}

function spansOf(steps: readonly Step[], cwd: string | undefined): Span[] {
  const results = Map.groupBy(ofType(steps, "tool-result"), (result) => result.toolId);
  const distinct = distinctIds();
  const spans: Span[] = [];
  const calls = new Set<string>();
  // One of which nobody tells what it used has not come to its end.
  const ended = new Set(ofType(steps, "usage").map((event) => event.callId));
  let turnId: string | undefined;
  steps.forEach((step, i) => {
    for (const event of step.events) {
      if (event.type === "prompt") {
        turnId = distinct(`turn:${event.key}`);
        const common = { name: "turn", kind: "turn", attributes: {} };
        spans.push({ ...common, id: turnId, startedAt: event.at, endedAt: endOfTurn(steps, i) });
      }
      if (!("callId" in event) || event.callId === undefined) continue;
      const parentId = ended.has(event.callId) ? event.callId : turnId;
      if (parentId === event.callId && !calls.has(parentId)) spans.push(callSpan(steps, parentId, turnId));
      calls.add(event.callId);
      if (event.type !== "tool-call") continue;
      const answers = results.get(event.toolId) ?? [];
      const edits = answers.flatMap((answer) => answer.edits.map((edit) => inside(cwd, edit)));
      spans.push({
        id: distinct(event.toolId),
        parentId,
        name: `execute_tool ${event.name}`,
        kind: "tool",
        startedAt: event.at,
        endedAt: answers.at(-1)?.at,
        ...(edits.length > 0 ? { edits } : {}),
        attributes: {
          "gen_ai.operation.name": "execute_tool",
          "gen_ai.tool.name": event.name,
          "gen_ai.tool.call.id": event.toolId,
        },
      });
    }
  });
  return spans;
}

function callSpan(steps: readonly Step[], callId: string, parentId: string | undefined): Span {
  const own = steps.flatMap(({ events }) =>
    events.filter((event) => "callId" in event && event.callId === callId),
  ) as Extract<TranscriptEvent, { callId?: unknown }>[];
  const model = own.map((event) => ("model" in event ? event.model : undefined)).find(Boolean);
  const usage = [...usageByMessage(steps).values()].find((told) => told.callId === callId)?.usage;
  return {
    id: callId,
    parentId,
    name: model === undefined ? "chat" : `chat ${model}`,
    kind: "llm",
    startedAt: own[0]?.at,
    endedAt: own.at(-1)?.at,
    ...(usage ? { usage } : {}),
    attributes: { "gen_ai.operation.name": "chat", "gen_ai.request.model": model, "gen_ai.response.id": callId },
  };
}

/** When the last step before the next prompt was made. */
function endOfTurn(steps: readonly Step[], from: number): string | undefined {
  const next = steps.findIndex((step, i) => i > from && step.type === "prompt");
  return steps.slice(from, next === -1 ? undefined : next).findLast((step) => step.at !== undefined)?.at;
}
