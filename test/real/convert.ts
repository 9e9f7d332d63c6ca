/**
 * Turns what coding agents write about themselves into what the service takes: telemetry entries and trace sessions.
 * A transcript is read once into steps, whatever agent wrote it (`src/formats/agents`); both outputs are built from those.
 */
import { AGENTS } from "../../src/formats/agents/agents.ts";
import type { TraceSession, TraceSpan } from "../../src/formats/agents/otel.ts";
import {
  distinctIds,
  type Step,
  type StepType,
  type Tokens,
  type Transcript,
  type Usage,
} from "../../src/formats/agents/transcript.ts";

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

export function readTranscript(format: string, text: string): Transcript {
  const agent = AGENTS.find((known) => known.agent === format);
  if (!agent) throw new Error(`No reader for transcripts of ${format}`);
  return agent.read(text);
}

/** The transcript as it stood when it had only its first steps. */
export function firstSteps(transcript: Transcript, count: number): Transcript {
  return { ...transcript, steps: transcript.steps.slice(0, count) };
}

/** A payload may have 64 KiB as JSON; this leaves room for its other members. */
const MOST_RECORD_BYTES = 48 * 1024;

/** Entries for the records of a transcript, numbered from `firstSeq`. */
export function telemetryOf(transcript: Transcript, facts: SessionFacts = {}, firstSeq = 1): TelemetryEntry[] {
  return transcript.steps.map((step, i) => ({
    seq: firstSeq + i,
    ...(step.at === undefined ? {} : { clientTimestamp: step.at }),
    payload: {
      type: step.type,
      sessionId: transcript.sessionId,
      agent: transcript.agent,
      model: step.model,
      branch: step.branch ?? facts.branch,
      text: step.text,
      usage: step.usage,
      ...cutRecord(step.record),
    },
  }));
}

function cutRecord(record: string): { record: string; recordBytes?: number } {
  let kept = record;
  while (Buffer.byteLength(JSON.stringify(kept)) > MOST_RECORD_BYTES)
    kept = kept.slice(0, Math.floor(kept.length * 0.9));
  return kept === record ? { record } : { record: kept.toWellFormed(), recordBytes: Buffer.byteLength(record) };
}

/** The session of a transcript: a span a turn, under it one a model call, under that one a tool call. */
export function sessionOf(transcript: Transcript, facts: SessionFacts = {}): TraceSession {
  const { steps } = transcript;
  const times = steps.flatMap((step) => step.at ?? []).sort((a, b) => Date.parse(a) - Date.parse(b));
  const edits = steps.flatMap((step) => step.results.flatMap((result) => result.edits));
  const commits = [
    ...steps.flatMap((step) => step.results.flatMap((result) => result.commits.map((sha) => ({ sha, at: step.at })))),
    ...(facts.commits ?? []),
  ];
  const usage = sumUsage(steps);
  const hasReply = steps.some((step) => step.callId !== undefined);
  return {
    id: transcript.sessionId,
    agent: transcript.agent,
    model: steps.find((step) => step.model !== undefined)?.model,
    startedAt: times[0],
    endedAt: times.at(-1),
    branch: steps.find((step) => step.branch !== undefined)?.branch ?? facts.branch,
    outcome: commits.length > 0 ? "committed" : hasReply ? "completed" : "abandoned",
    prompts: steps.flatMap(({ at, text }) => (text === undefined ? [] : { at, text })),
    files: [...new Set([...edits.map((edit) => edit.path), ...(facts.files ?? [])])].sort(),
    commits,
    ...(usage ? { usage } : {}),
    spans: spansOf(steps),
  };
}

/** Usage of a transcript: each message once, by the record that tells the largest output. */
function usageByMessage(steps: readonly { readonly usage?: Usage | undefined }[]): Map<string, Usage> {
  const most = new Map<string, Usage>();
  for (const { usage } of steps) {
    if (usage && usage.output_tokens >= (most.get(usage.id)?.output_tokens ?? 0)) most.set(usage.id, usage);
  }
  return most;
}

/** Tokens of a transcript, each message counted once; undefined when it tells of none. */
export function sumUsage(steps: readonly { readonly usage?: Usage | undefined }[]): Tokens | undefined {
  const all = [...usageByMessage(steps).values()];
  if (all.length === 0) return undefined;
  const sum = (member: keyof Tokens) => all.reduce((total, usage) => total + usage[member], 0);
  return {
    input_tokens: sum("input_tokens"),
    output_tokens: sum("output_tokens"),
    cache_creation_input_tokens: sum("cache_creation_input_tokens"),
    cache_read_input_tokens: sum("cache_read_input_tokens"),
  };
}

function spansOf(steps: readonly Step[]): TraceSpan[] {
  const usages = usageByMessage(steps);
  const results = Map.groupBy(
    steps.flatMap((step) => step.results.map((result) => ({ ...result, at: step.at }))),
    (result) => result.id,
  );
  const distinct = distinctIds();
  const spans: TraceSpan[] = [];
  const calls = new Set<string>();
  let turnId: string | undefined;
  steps.forEach((step, i) => {
    if (step.type === "prompt") {
      turnId = distinct(`turn:${step.id}`);
      spans.push({
        id: turnId,
        name: "turn",
        kind: "turn",
        startedAt: step.at,
        endedAt: endOfTurn(steps, i),
        attributes: {},
      });
    }
    const { callId } = step;
    if (callId !== undefined && !calls.has(callId)) {
      calls.add(callId);
      spans.push(callSpan(steps, callId, turnId, usages.get(callId)));
    }
    for (const tool of step.tools) {
      const answers = results.get(tool.id) ?? [];
      const edits = answers.flatMap((answer) => answer.edits);
      spans.push({
        id: distinct(tool.id),
        parentId: callId ?? turnId,
        name: `execute_tool ${tool.name}`,
        kind: "tool",
        startedAt: step.at,
        endedAt: answers.at(-1)?.at,
        ...(edits.length > 0 ? { edits } : {}),
        attributes: {
          "gen_ai.operation.name": "execute_tool",
          "gen_ai.tool.name": tool.name,
          "gen_ai.tool.call.id": tool.id,
        },
      });
    }
  });
  return spans;
}

function callSpan(
  steps: readonly Step[],
  callId: string,
  parentId: string | undefined,
  usage: Usage | undefined,
): TraceSpan {
  const own = steps.filter((step) => step.callId === callId);
  const model = own.find((step) => step.model !== undefined)?.model;
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
