import { asAnswerId, isModelCall, readAttributeUsage } from "../../formats/usage.ts";
import { asObject, asObjects, asText, type Fields, parseJson, readId } from "../../formats/values.ts";
import { costOf, countOf, keptText, type Span, usageOf } from "./happening.ts";
import { keptMessages } from "./messages.ts";
import { readObserved, usageOfAnthropic, usageOfLangfuse, usageOfLiteLlm } from "./observed.ts";
import type { SpanRecord } from "./records.ts";

/**
 * Spans of any agent or library: by OpenTelemetry's semantic conventions for generative AI, by OpenInference's
 * (`openinference.span.kind`, `llm.token_count.*`; https://github.com/Arize-ai/openinference), or as Vercel's AI SDK writes them
 * (`ai.usage.*`, `ai.toolCall.*`), which opencode has, or of functions that Langfuse or Traceloop observe. Most count input with what was cached.
 */

/** Members of a usage, by the attributes that hold them, and those of what breaks its input down. */
const DIALECTS = [
  {
    counts: { prompt_tokens: "llm.token_count.prompt", completion_tokens: "llm.token_count.completion" },
    details: "prompt_tokens_details",
    parts: {
      cached_tokens: "llm.token_count.prompt_details.cache_read",
      cache_write_tokens: "llm.token_count.prompt_details.cache_write",
    },
  },
  {
    counts: {
      inputTokens: "ai.usage.inputTokens",
      outputTokens: "ai.usage.outputTokens",
      cachedInputTokens: "ai.usage.cachedInputTokens",
    },
    details: "inputTokenDetails",
    parts: {
      cacheReadTokens: "ai.usage.inputTokenDetails.cacheReadTokens",
      cacheWriteTokens: "ai.usage.inputTokenDetails.cacheWriteTokens",
    },
  },
] as const;

/** What LiteLLM, OpenLIT, Pydantic AI and OpenInference say that a call cost: nothing where they know no price. */
const COSTS = ["gen_ai.cost.total_cost", "gen_ai.usage.cost", "operation.cost", "llm.cost.total"];

/** Attributes that every call repeats, and that would be most of what is stored. */
const REPEATED = /^gen_ai\.(?:system_instructions|tool\.definitions|agent\.description|tool\.description)$/;
const KEPT = /^(?:gen_ai|github\.copilot)\.|^(?:error\.type|process\.exit\.code)$/;
const MAX_KEPT = 64;

/** Reads a span; undefined for one that has neither tokens nor the role of an agent, a model call or a tool. */
export function readGenericSpan(record: SpanRecord): Span | undefined {
  const { id, parentId, name, failure, startedAt, endedAt, isDetails } = record;
  const observed = readObserved(record.attributes, name);
  const attributes = { ...observed, ...record.attributes };
  const usage = readUsage(attributes);
  const kind = isDetails
    ? undefined
    : kindOf(attributes, usage !== undefined || readAttributeUsage(attributes) !== null);
  if (kind === undefined && !isDetails) return undefined;
  const about: Record<string, unknown> = {
    ...observed,
    ...(kind && openInference(attributes, kind)),
    ...toolOfAiSdk(attributes),
  };
  let kept = 0;
  for (const key in attributes) {
    if (!KEPT.test(key) || REPEATED.test(key)) continue;
    if (++kept > MAX_KEPT) break;
    const value = attributes[key];
    about[key] = typeof value === "string" ? keptText(value) : value;
  }
  Object.assign(about, keptMessages(record));
  // Strands says so beside a status that knows no failure.
  if ((attributes["gen_ai.tool.status"] ?? attributes["tool.status"]) === "error") about["error.type"] ??= "tool_error";
  if (failure !== undefined) {
    about["error.type"] ??= "_OTHER";
    about["error.message"] = keptText(failure);
  }
  const costUsd = COSTS.map((key) => costOf(attributes[key])).find(Boolean);
  return {
    id,
    parentId,
    name: isDetails ? undefined : name,
    kind,
    startedAt,
    endedAt,
    usage,
    costUsd,
    attributes: about,
  };
}

/** Whether a span says again what the calls below it used. */
export function sumsUp({ attributes, name }: SpanRecord): boolean {
  const operation = readId(attributes["gen_ai.operation.name"])?.toLowerCase() ?? "";
  const isSum = SUMS.test(operation) || /^(?:agent|chain)$/.test(roleOf(attributes) ?? "");
  if (!isSum && !/^ai\.(?:generate|stream)(?:Text|Object)$/.test(name)) return false;
  return readUsage(attributes) !== undefined || readAttributeUsage(attributes) !== null;
}

const SUMS = /^(?:invoke|create)_(?:agent|workflow)$/;

/** OpenInference's kind of a span. */
const roleOf = (attributes: Fields) => readId(attributes["openinference.span.kind"])?.toLowerCase();

function kindOf(attributes: Fields, hasUsage: boolean): Span["kind"] | undefined {
  const operation = readId(attributes["gen_ai.operation.name"])?.toLowerCase();
  const role = roleOf(attributes);
  const isTool = ["gen_ai.tool.call.id", "ai.toolCall.name"].some((name) => readId(attributes[name]) !== undefined);
  if (isTool || operation === "execute_tool" || role === "tool") return "tool";
  // A chain calls no model by itself: its tokens are those of the calls within.
  if (isAgent(operation, hasUsage) || role === "agent" || (role === "chain" && hasUsage)) return "agent";
  const isCall = isModelCall(operation) || role === "llm";
  return hasUsage || isCall ? "llm" : undefined;
}

/** Whether an operation is an agent's. An agent that is only created does nothing yet. */
const isAgent = (operation = "", hasUsage: boolean) =>
  SUMS.test(operation) && (hasUsage || !/^create_/.test(operation));

function readUsage(attributes: Fields): Fields | undefined {
  const named = asText(attributes["langsmith.metadata.usage_metadata"]);
  if (named !== undefined) return ofLangSmith(asObject(parseJson(named)));
  const observed = usageOfLangfuse(attributes) ?? usageOfLiteLlm(attributes) ?? usageOfAnthropic(attributes);
  if (observed) return observed;
  for (const { counts, details, parts } of DIALECTS) {
    const usage = usageOf(attributes, counts);
    const detailed = usageOf(attributes, parts);
    if (usage) return { ...usage, ...(detailed && { [details]: detailed }), id: answerIdIn(attributes) };
  }
  return undefined;
}

/** The longest output of a call that is taken apart. */
const MAX_OUTPUT_CHARS = 1024 * 1024;

/**
 * The id of a call's answer in its output, which OpenInference keeps as JSON, as the provider's client or LangChain has it: beside
 * LangChain the client tells of the same call, in a trace of its own.
 */
function answerIdIn(attributes: Fields): string | undefined {
  const text = asText(attributes["output.value"]);
  if (roleOf(attributes) !== "llm" || text === undefined || text.length > MAX_OUTPUT_CHARS) return undefined;
  const { id, generations } = asObject(parseJson(text));
  const [{ message } = {} as Fields] = asObjects(Array.isArray(generations) ? generations.flat() : []);
  const { kwargs } = asObject(message);
  const { id: runId, response_metadata } = asObject(kwargs);
  return [id, asObject(response_metadata).id, runId].map(asAnswerId).find(Boolean);
}

/** LangSmith's exporter leaves what was cached out of `gen_ai.usage.*`. */
function ofLangSmith({ input_tokens, output_tokens, input_token_details: details }: Fields): Fields | undefined {
  const { cache_read: cached_tokens, cache_creation: cache_write_tokens } = asObject(details);
  const usage = { input_tokens, output_tokens, input_tokens_details: { cached_tokens, cache_write_tokens } };
  return countOf(input_tokens) === undefined ? undefined : usage;
}

/** The AI SDK's attributes of a tool under OpenTelemetry's names. */
function toolOfAiSdk(attributes: Fields): Fields {
  const name = readId(attributes["ai.toolCall.name"]);
  if (name === undefined) return {};
  return {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": name,
    "gen_ai.tool.call.id": readId(attributes["ai.toolCall.id"]),
    "gen_ai.tool.call.arguments": keptText(attributes["ai.toolCall.args"]),
    "gen_ai.tool.call.result": keptText(attributes["ai.toolCall.result"]),
  };
}

const OPERATIONS: Readonly<Record<NonNullable<Span["kind"]>, string>> = {
  llm: "chat",
  tool: "execute_tool",
  agent: "invoke_agent",
};

/** OpenInference's attributes under OpenTelemetry's names; none where a span has none of its. */
function openInference(attributes: Fields, kind: NonNullable<Span["kind"]>): Fields {
  if (
    readId(attributes["openinference.span.kind"]) === undefined &&
    countOf(attributes["llm.token_count.prompt"]) === undefined
  )
    return {};
  const isTool = kind === "tool";
  return {
    "gen_ai.operation.name": OPERATIONS[kind],
    "gen_ai.request.model": readId(attributes["llm.model_name"]),
    "gen_ai.provider.name": readId(attributes["llm.provider"]),
    "gen_ai.tool.name": readId(attributes["tool.name"]),
    ...(isTool ? { "gen_ai.tool.call.arguments": keptText(attributes["input.value"]) } : {}),
    // The output of embeddings is numbers.
    [isTool ? "gen_ai.tool.call.result" : "output"]:
      roleOf(attributes) === "embedding" ? undefined : keptText(attributes["output.value"]),
  };
}
