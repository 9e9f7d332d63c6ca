import { asAnswerId, readUsage } from "../../formats/usage.ts";
import { asObject, asObjects, asText, type Fields, parseJson, readId } from "../../formats/values.ts";
import { countOf, keptText } from "./happening.ts";

/**
 * Spans of functions that a program has observed by Langfuse (`langfuse.observation.*`) or Traceloop (`traceloop.entity.*`), those that
 * Logfire makes of OpenAI's Agents SDK, and tokens that Langfuse, LiteLLM and the AI SDK tell in texts of their own.
 */

const NAMES = [
  { role: "langfuse.observation.type", entity: "langfuse.observation" },
  { role: "traceloop.span.kind", entity: "traceloop.entity" },
];

const OPERATIONS = new Map([
  ["generation", "chat"],
  ["embedding", "embeddings"],
  ["tool", "execute_tool"],
  ["agent", "invoke_agent"],
  ["workflow", "invoke_workflow"],
]);

/** Their attributes under OpenTelemetry's names; none where a span has none of theirs. */
export function readObserved(attributes: Fields, name: string): Fields {
  const names = NAMES.find(({ role }) => attributes[role] !== undefined);
  const operation = names && OPERATIONS.get(asText(attributes[names.role]) ?? "");
  if (operation === undefined) return {};
  const of = (member: string) => attributes[`${names?.entity}.${member}`];
  const output = keptText(of("output"));
  const isTool = operation === "execute_tool";
  return {
    "gen_ai.operation.name": operation,
    "gen_ai.request.model": readId(of("model.name")),
    ...(isTool && {
      "gen_ai.tool.name": readId(of("name")) ?? name,
      "gen_ai.tool.call.arguments": keptText(of("input")),
    }),
    // The output of embeddings is numbers.
    [isTool ? "gen_ai.tool.call.result" : "output"]: operation === "embeddings" ? undefined : output,
    ...(of("level") === "ERROR" && { "error.type": "_OTHER", "error.message": keptText(of("status_message")) }),
  };
}

/**
 * Tokens as Langfuse tells them: as the provider did, or each kind apart, with what was cached, thought or heard taken out of `input` and
 * `output`. Programs that tell them by hand name what was cached as Anthropic does.
 */
export function usageOfLangfuse(attributes: Fields): Fields | undefined {
  const text = asText(attributes["langfuse.observation.usage_details"]);
  if (text === undefined) return undefined;
  const details = asObject(parseJson(text));
  if (countOf(details.input) === undefined) return readUsage(details) === null ? undefined : details;
  const { input_cache_read, input_cached_tokens, input_cache_creation, ...parts } = details;
  const sumOf = (kind: string) =>
    Object.entries(parts).reduce(
      (sum, [name, value]) => sum + (((name === kind || name.startsWith(`${kind}_`)) && countOf(value)) || 0),
      0,
    );
  return {
    input_tokens: sumOf("input"),
    output_tokens: sumOf("output"),
    cache_read_input_tokens: input_cache_read ?? input_cached_tokens ?? parts.cache_read_input_tokens ?? 0,
    cache_creation_input_tokens: input_cache_creation ?? parts.cache_creation_input_tokens,
  };
}

/** Many times as long as the numbers of one call. */
const MAX_PRINTED_CHARS = 16 * 1024;

/** Tokens as LiteLLM tells them beside `gen_ai.usage.*`, which has not what was cached: a dictionary of numbers as Python prints it. */
export function usageOfLiteLlm(attributes: Fields): Fields | undefined {
  const text = asText(attributes["metadata.usage_object"]);
  if (text === undefined || text.length > MAX_PRINTED_CHARS) return undefined;
  const printed = text.replaceAll("'", '"').replace(/\bNone\b/g, "null");
  const { prompt_tokens, completion_tokens, prompt_tokens_details, cache_creation_input_tokens } = asObject(
    parseJson(printed),
  );
  const { cached_tokens, cache_write_tokens = cache_creation_input_tokens } = asObject(prompt_tokens_details);
  const id = asAnswerId(attributes["gen_ai.response.id"]);
  const usage = { id, prompt_tokens, completion_tokens, prompt_tokens_details: { cached_tokens, cache_write_tokens } };
  return readUsage(usage) === null ? undefined : usage;
}

/**
 * Tokens as Anthropic told them to the AI SDK. Its version 5 says as `ai.usage.*` only what was neither read from a cache nor written to
 * one, and of calls that do not stream nothing of either.
 */
export function usageOfAnthropic(attributes: Fields): Fields | undefined {
  const text = asText(attributes["ai.response.providerMetadata"]);
  if (!text?.includes('"anthropic"')) return undefined;
  const { usage } = asObject(asObject(parseJson(text)).anthropic);
  const { input_tokens, output_tokens, cache_creation_input_tokens, cache_read_input_tokens, cache_creation } =
    asObject(usage);
  // The name of one is there where the input excludes what was cached.
  const cached = { cache_read_input_tokens: cache_read_input_tokens ?? 0, cache_creation_input_tokens, cache_creation };
  const isWhole = countOf(input_tokens) !== undefined && countOf(output_tokens) !== undefined;
  return isWhole ? { input_tokens, output_tokens, ...cached } : undefined;
}

/** What Logfire says of a call or a tool of OpenAI's Agents SDK, under OpenTelemetry's names; nothing of spans of another scope. */
export function ofOpenAiAgents(scope: string, attributes: Fields): Fields {
  if (scope !== "logfire.openai_agents") return {};
  const { name, input, output, events, usage, mcp_data } = attributes;
  if (mcp_data !== undefined)
    return {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": readId(name),
      "gen_ai.tool.call.arguments": input,
      "gen_ai.tool.call.result": output,
    };
  if (attributes["gen_ai.usage.input_tokens"] === undefined) return {};
  const listOf = (value: unknown) => asObjects(parseJson(asText(value) ?? ""));
  // For OpenAI's Responses API each event is a message, in order: the assistant's at the end are what the call gave back.
  const messages = listOf(events).map(({ role, content }) => ({ role, content }));
  const end = messages.findLastIndex(({ role }) => role !== "assistant") + 1;
  const gave = events === undefined ? listOf(output) : messages.slice(end);
  const answers = gave.filter(({ content }) => content !== null && content !== undefined);
  const { cached_tokens } = asObject(asObject(parseJson(asText(usage) ?? "")).input_tokens_details);
  return {
    "gen_ai.operation.name": "chat",
    "gen_ai.input.messages": events === undefined ? input : JSON.stringify(messages.slice(0, end)),
    ...(answers.length > 0 && { "gen_ai.output.messages": JSON.stringify(answers) }),
    ...(countOf(cached_tokens) !== undefined && { "gen_ai.usage.cache_read.input_tokens": cached_tokens }),
  };
}
