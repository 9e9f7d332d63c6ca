import { readId } from "../../formats/values.ts";
import {
  before,
  countOf,
  failureOf,
  type Happening,
  keptText,
  type Span,
  sessionOf,
  toolSpan,
  usageOf,
  wordsOf,
} from "./happening.ts";
import type { LogRecord, Origin, SpanRecord } from "./records.ts";

/**
 * Codex's telemetry: log records with `event.name` `codex.NAME`. Input is counted with what was cached. Hundreds of its spans are of its
 * own works, and few of them name their conversation.
 */

export const isCodex = ({ resource }: Origin): boolean =>
  /^codex\b|^codex_/.test(readId(resource["service.name"]) ?? "");

const TOKENS = {
  input_tokens: "input_token_count",
  output_tokens: "output_token_count",
  cached_input_tokens: "cached_token_count",
  cache_write_input_tokens: "cache_write_token_count",
};

/** What an event tells; undefined for one that tells nothing of what is recorded. */
export function readCodexLog({ event, resource, attributes, at, nanos }: LogRecord): Happening | undefined {
  const session = sessionOf(attributes, resource);
  if (session === undefined) return undefined;
  const model = readId(attributes.model);
  const happening = { session, agent: "codex", agentVersion: readId(attributes["app.version"]), model, at };
  if (event === "codex.conversation_starts") return happening;
  if (event === "codex.user_prompt") {
    const prompt = wordsOf(attributes.prompt, attributes.prompt_length);
    return {
      ...happening,
      prompt,
      entry: { payload: { type: "prompt", ...prompt }, key: [nanos, attributes.prompt_length] },
    };
  }
  if (event === "codex.sse_event" && attributes["event.kind"] === "response.completed") {
    const usage = usageOf(attributes, TOKENS);
    if (!usage) return undefined;
    return { ...happening, entry: { payload: { type: "usage", model, usage }, key: [nanos, usage] } };
  }
  if (event !== "codex.tool_result") return undefined;
  const id = readId(attributes.call_id);
  if (id === undefined) return happening;
  const span = toolSpan(readId(attributes.tool_name) ?? "tool", id, {
    id,
    startedAt: before(at, countOf(attributes.duration_ms)),
    endedAt: at,
    attributes: {
      "gen_ai.tool.call.arguments": keptText(attributes.arguments),
      "gen_ai.tool.call.result": keptText(attributes.output),
      ...failureOf(attributes),
    },
  });
  return { ...happening, span };
}

/** What a span tells: a model call with its tokens, or a tool by its own name; undefined for all others. */
export function readCodexSpan({ attributes, id, parentId, name, startedAt, endedAt }: SpanRecord): Span | undefined {
  const tool = readId(attributes.tool_name);
  if (tool !== undefined && tool === name) {
    const callId = readId(attributes.call_id);
    return callId === undefined
      ? undefined
      : toolSpan(tool, callId, { id: callId, parentId, startedAt, endedAt, attributes: {} });
  }
  const usage = Object.entries(attributes).filter(([key]) => key.startsWith("gen_ai.usage."));
  if (usage.length === 0) return undefined;
  const about = { "gen_ai.operation.name": "chat", ...Object.fromEntries(usage) };
  return { id, parentId, name: "chat", kind: "llm", startedAt, endedAt, attributes: about };
}
