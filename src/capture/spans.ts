import type { ReplyEvent, ToolCallEvent, ToolResultEvent, Usage, UsageEvent } from "../formats/agents/transcript.ts";
import { type CaptureMode, outgoingText } from "./texts.ts";

/** A span as the service takes it; attributes have OpenTelemetry's names where it has some (semantic conventions, GenAI). */
export interface Span {
  readonly id: string;
  readonly parentId?: string | undefined;
  readonly name: string;
  readonly kind: string;
  readonly startedAt?: string | undefined;
  readonly endedAt?: string | undefined;
  readonly usage?: Usage;
  readonly costUsd?: number | undefined;
  readonly edits?: readonly SentEdit[];
  readonly attributes: Readonly<Record<string, unknown>>;
}

export interface SentEdit {
  /** As the repository knows it. */
  readonly path: string;
  readonly startLine?: number | undefined;
  readonly endLine?: number | undefined;
  readonly added?: number | undefined;
  readonly removed?: number | undefined;
  readonly at?: string | undefined;
}

/** What a span is built from beside its event. */
export interface SpanParts {
  /** The span as it was, where there is one. */
  readonly before: Span | undefined;
  /** The span of the prompt that is being worked on. */
  readonly turn: string | undefined;
  readonly mode: CaptureMode;
}

/** The span of a model call with one more of its answers; a call may answer several times. */
export function replySpan({ callId, at, model, text }: ReplyEvent, parts: SpanParts): Span {
  const { before, mode } = parts;
  const span = modelCall(callId, at, model, parts);
  if (mode === "metadata") return span;
  const earlier = before?.attributes.output;
  const whole = typeof earlier === "string" ? `${earlier}\n${text}` : text;
  return { ...span, attributes: { ...span.attributes, output: outgoingText(whole, mode) } };
}

export function usageSpan({ callId, at, model, usage, costUsd }: UsageEvent, parts: SpanParts): Span {
  return { ...modelCall(callId, at, model, parts), usage, costUsd };
}

function modelCall(id: string, at: string | undefined, model: string | undefined, { before, turn }: SpanParts): Span {
  const named = model ?? before?.attributes["gen_ai.request.model"];
  return {
    ...before,
    id,
    parentId: before?.parentId ?? turn,
    name: typeof named === "string" ? `chat ${named}` : "chat",
    kind: "llm",
    startedAt: before?.startedAt ?? at,
    endedAt: at ?? before?.endedAt,
    attributes: {
      ...before?.attributes,
      "gen_ai.operation.name": "chat",
      ...(named === undefined ? {} : { "gen_ai.request.model": named }),
    },
  };
}

export function toolCallSpan(
  { callId, toolId, at, name, input }: ToolCallEvent,
  { before, turn, mode }: SpanParts,
): Span {
  const text = typeof input === "string" ? input : (JSON.stringify(input) ?? "");
  return {
    ...before,
    id: toolId,
    parentId: callId ?? turn,
    name: `execute_tool ${name}`,
    kind: "tool",
    startedAt: at ?? before?.startedAt,
    attributes: {
      ...before?.attributes,
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": name,
      "gen_ai.tool.call.id": toolId,
      ...(mode === "metadata" ? {} : { "gen_ai.tool.call.arguments": outgoingText(text, mode) }),
    },
  };
}

/** All edits without repetitions: agents report one use of a tool in several records, and parts of it twice. */
function union(before: readonly SentEdit[], more: readonly SentEdit[]): SentEdit[] {
  const known = new Set(before.map((edit) => JSON.stringify(edit)));
  return [...before, ...more.filter((edit) => !known.has(JSON.stringify(edit)))];
}

/** A tool's span with what came back from it. */
export function toolResultSpan(
  { toolId, at, output, isError, exitCode }: ToolResultEvent,
  edits: readonly SentEdit[],
  { before, turn, mode }: SpanParts,
): Span {
  const isSaid = output !== undefined && mode !== "metadata";
  return {
    parentId: turn,
    name: "execute_tool",
    kind: "tool",
    ...before,
    id: toolId,
    endedAt: at,
    ...(edits.length > 0 ? { edits: union(before?.edits ?? [], edits) } : {}),
    attributes: {
      ...before?.attributes,
      "gen_ai.operation.name": "execute_tool",
      ...(isSaid ? { "gen_ai.tool.call.result": outgoingText(output, mode) } : {}),
      ...(exitCode === undefined ? {} : { "process.exit.code": exitCode }),
      ...(isError ? { "error.type": "tool_error" } : {}),
    },
  };
}
