import { asObject, asText, type Fields, parseJson, readId } from "../../formats/values.ts";
import {
  before,
  costOf,
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
 * Claude Code's telemetry. Its events are log records whose body is `claude_code.NAME`, its spans say their kind in `span.type`; input is
 * counted without what was cached. `request_id` names a model call on both ways, and in transcripts, too.
 */

const SCOPE = "com.anthropic.claude_code";

export const isClaudeCode = ({ scope }: Origin): boolean => scope === SCOPE || scope.startsWith(`${SCOPE}.`);

const TOKENS = {
  input_tokens: "input_tokens",
  output_tokens: "output_tokens",
  cache_read_input_tokens: "cache_read_tokens",
  cache_creation_input_tokens: "cache_creation_tokens",
};
const PARTS = {
  ephemeral_5m_input_tokens: "cache_creation_5m_tokens",
  ephemeral_1h_input_tokens: "cache_creation_1h_tokens",
};

function usage(attributes: Fields): Fields | undefined {
  const counts = usageOf(attributes, TOKENS);
  if (!counts) return undefined;
  const parts = usageOf(attributes, PARTS);
  // Named even where nothing was read, because this name says that the input excludes cached tokens.
  return {
    cache_read_input_tokens: 0,
    ...counts,
    ...(parts ? { cache_creation: parts } : {}),
    requestId: readId(attributes.request_id),
  };
}

/** What an event tells; undefined for one that tells nothing of what is recorded. */
export function readClaudeCodeLog({ event, resource, attributes, at, nanos }: LogRecord): Happening | undefined {
  const session = sessionOf(attributes, resource);
  if (session === undefined) return undefined;
  const happening = {
    session,
    agent: "claude-code",
    agentVersion: readId(attributes["app.version"]) ?? readId(resource["service.version"]),
    at,
  };
  const order = attributes["event.sequence"];
  switch (event.replace(/^claude_code\./, "")) {
    case "user_prompt": {
      const prompt = wordsOf(attributes.prompt, attributes.prompt_length);
      const id = readId(attributes["message.uuid"]) ?? readId(attributes["prompt.id"]);
      return { ...happening, prompt, entry: { payload: { type: "prompt", id, ...prompt }, key: [nanos, order, id] } };
    }
    case "api_request": {
      const used = usage(attributes);
      if (!used) return undefined;
      const model = readId(attributes.model);
      const costUsd = costOf(attributes.cost_usd);
      return {
        ...happening,
        model,
        span: modelCall(attributes, before(at, countOf(attributes.duration_ms)), at, { usage: used, costUsd }),
        entry: { payload: { type: "usage", model, usage: used, costUsd }, key: [nanos, order, used] },
      };
    }
    case "assistant_response": {
      const output = keptText(attributes.response);
      if (output === undefined || readId(attributes.request_id) === undefined) return undefined;
      return { ...happening, span: modelCall(attributes, undefined, at, {}, { output }) };
    }
    case "tool_result":
      return { ...happening, ...toolResult(attributes, at, nanos) };
    default:
      return undefined;
  }
}

/** @returns undefined for a call without an id: only its entry tells of it */
function modelCall(
  attributes: Fields,
  startedAt: string | undefined,
  endedAt: string | undefined,
  more: Pick<Span, "usage" | "costUsd">,
  said: Fields = {},
): Span | undefined {
  const id = readId(attributes.request_id);
  const model = readId(attributes.model);
  if (id === undefined) return undefined;
  return {
    id,
    name: model === undefined ? "chat" : `chat ${model}`,
    kind: "llm",
    startedAt,
    endedAt,
    ...more,
    attributes: { "gen_ai.operation.name": "chat", "gen_ai.request.model": model, ...said },
  };
}

function toolResult(attributes: Fields, at: string | undefined, nanos: string): Partial<Happening> {
  const name = readId(attributes.tool_name) ?? "tool";
  const id = readId(attributes.tool_use_id);
  // Beside a command's words stands what it did, such as a commit.
  const { git_commit_id } = asObject(parseJson(asText(attributes.tool_parameters) ?? ""));
  const commit =
    typeof git_commit_id === "string" && /^[0-9a-f]{7,64}$/.test(git_commit_id) ? git_commit_id : undefined;
  const branch = attributes["vcs.ref.head.type"] === "branch" ? readId(attributes["vcs.ref.head.name"]) : undefined;
  const span =
    id === undefined
      ? undefined
      : toolSpan(name, id, {
          id,
          startedAt: before(at, countOf(attributes.duration_ms)),
          endedAt: at,
          attributes: { "gen_ai.tool.call.arguments": keptText(attributes.tool_input), ...failureOf(attributes) },
        });
  if (commit === undefined) return { branch, span };
  return { branch, span, commit, entry: { payload: { type: "commit", sha: commit }, key: [nanos, commit] } };
}

/** What a span tells: a turn, a model call or a tool; undefined for what lies within these. */
export function readClaudeCodeSpan({ attributes, ...record }: SpanRecord): Span | undefined {
  const { id, parentId, startedAt, endedAt } = record;
  const type = asText(attributes["span.type"]) ?? record.name.replace(/^claude_code\./, "");
  if (type === "llm_request") {
    const used = usage(attributes);
    const span = modelCall({ ...attributes, request_id: attributes.request_id ?? id }, startedAt, endedAt, {
      usage: used,
    });
    return span && { ...span, parentId };
  }
  if (type === "tool") {
    const tool = readId(attributes.tool_name) ?? "tool";
    const callId = readId(attributes.tool_use_id);
    return toolSpan(tool, callId, { id: callId ?? id, parentId, startedAt, endedAt, attributes: {} });
  }
  if (type !== "interaction") return undefined;
  const about = { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "claude-code" };
  return { id, parentId, name: "invoke_agent claude-code", kind: "agent", startedAt, endedAt, attributes: about };
}
