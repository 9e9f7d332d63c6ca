import { readId } from "../../formats/values.ts";
import {
  before,
  countOf,
  failureOf,
  type Happening,
  keptText,
  sessionOf,
  toolSpan,
  usageOf,
  wordsOf,
} from "./happening.ts";
import type { LogRecord, Origin } from "./records.ts";

/**
 * Gemini CLI's telemetry: log records with `event.name` `gemini_cli.NAME`. Its `gen_ai.client.inference.operation.details` tell of the same
 * calls once more, without what was cached, and are left out.
 */

export const isGeminiCli = ({ resource }: Origin): boolean => resource["service.name"] === "gemini-cli";

const TOKENS = {
  promptTokenCount: "input_token_count",
  candidatesTokenCount: "output_token_count",
  cachedContentTokenCount: "cached_content_token_count",
  thoughtsTokenCount: "thoughts_token_count",
  toolUsePromptTokenCount: "tool_token_count",
};

/** What an event tells; undefined for one that tells nothing of what is recorded. */
export function readGeminiCliLog({ event, resource, attributes, at, nanos }: LogRecord): Happening | undefined {
  const session = sessionOf(attributes, resource);
  if (session === undefined) return undefined;
  const happening = { session, agent: "gemini-cli", at };
  const model = readId(attributes.model);
  if (event === "gemini_cli.user_prompt") {
    const prompt = wordsOf(attributes.prompt, attributes.prompt_length);
    const id = readId(attributes.prompt_id);
    return { ...happening, prompt, entry: { payload: { type: "prompt", id, ...prompt }, key: [nanos, id] } };
  }
  if (event === "gemini_cli.api_response") {
    const usage = usageOf(attributes, TOKENS);
    if (!usage) return undefined;
    return { ...happening, model, entry: { payload: { type: "usage", model, usage }, key: [nanos, model, usage] } };
  }
  if (event !== "gemini_cli.tool_call") return undefined;
  const name = readId(attributes.function_name) ?? "tool";
  // It gives no id, and tells all calls of a turn in one millisecond, once the last is done.
  return {
    ...happening,
    hasNoId: true,
    span: toolSpan(name, undefined, {
      id: `${name}@${at ?? nanos}`,
      startedAt: before(at, countOf(attributes.duration_ms)),
      endedAt: at,
      attributes: { "gen_ai.tool.call.arguments": keptText(attributes.function_args), ...failureOf(attributes) },
    }),
  };
}
