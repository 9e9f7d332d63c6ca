import { asAnswerId, readUsage } from "../../formats/usage.ts";
import { asObject, asText, type Fields, parseJson, readId } from "../../formats/values.ts";
import { keptText } from "./happening.ts";

/** Spans of functions that a program has observed by Langfuse (`langfuse.observation.*`) or Traceloop (`traceloop.entity.*`). */

const NAMES = [
  { role: "langfuse.observation.type", entity: "langfuse.observation" },
  { role: "traceloop.span.kind", entity: "traceloop.entity" },
];

const OPERATIONS: Readonly<Record<string, string>> = {
  generation: "chat",
  embedding: "embeddings",
  tool: "execute_tool",
  agent: "invoke_agent",
  workflow: "invoke_workflow",
};

/** Their attributes under OpenTelemetry's names; none where a span has none of theirs. */
export function readObserved(attributes: Fields, name: string): Fields {
  const names = NAMES.find(({ role }) => attributes[role] !== undefined);
  const operation = names && OPERATIONS[String(attributes[names.role])];
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
    // Of embeddings that is numbers.
    [isTool ? "gen_ai.tool.call.result" : "output"]: operation === "embeddings" ? undefined : output,
    ...(of("level") === "ERROR" && { "error.type": "_OTHER", "error.message": keptText(of("status_message")) }),
  };
}

/** Tokens as Langfuse tells them: as the provider did, or, as beside LangChain, with what was cached taken out of the input. */
export function usageOfLangfuse(attributes: Fields): Fields | undefined {
  const text = asText(attributes["langfuse.observation.usage_details"]);
  if (text === undefined) return undefined;
  const details = asObject(parseJson(text));
  const { input, output, input_cache_read: read, input_cache_creation: written } = details;
  const isApart = read !== undefined || written !== undefined;
  const cached = { cache_read_input_tokens: read ?? 0, cache_creation_input_tokens: written };
  const usage = isApart ? { input_tokens: input, output_tokens: output, ...cached } : details;
  return readUsage(usage) === null ? undefined : usage;
}

/** Tokens as LiteLLM tells them beside `gen_ai.usage.*`, which has not what was cached: a dictionary of numbers as Python prints it. */
export function usageOfLiteLlm(attributes: Fields): Fields | undefined {
  const text = asText(attributes["metadata.usage_object"]);
  if (text === undefined) return undefined;
  const printed = text.replaceAll("'", '"').replace(/\bNone\b/g, "null");
  const { prompt_tokens, completion_tokens, prompt_tokens_details, cache_creation_input_tokens } = asObject(
    parseJson(printed),
  );
  const { cached_tokens, cache_write_tokens = cache_creation_input_tokens } = asObject(prompt_tokens_details);
  const id = asAnswerId(attributes["gen_ai.response.id"]);
  const usage = { id, prompt_tokens, completion_tokens, prompt_tokens_details: { cached_tokens, cache_write_tokens } };
  return readUsage(usage) === null ? undefined : usage;
}
