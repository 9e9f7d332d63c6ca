import { isObject } from "../kit/json.ts";
import { asObject, type Fields, firstOf, readId } from "./values.ts";

/**
 * Tokens of one model call, from whatever source, in the kinds that have prices of their own; null for a kind that was not reported. A
 * member of the wrong type is not understood and refuses nothing.
 */
export interface Usage {
  /** The provider's id of the message, where the record names one. */
  readonly id: string | null;
  /** The provider's id of the request that it answered, see `readRequestId`. */
  readonly requestId: string | null;
  /** Neither read from a cache nor written to one. */
  readonly input: number | null;
  readonly output: number | null;
  /** Written to a cache for five minutes, or for as long as the provider's only kind of cache keeps it. */
  readonly cacheWrite: number | null;
  /** Written to a cache for an hour. */
  readonly cacheWrite1h: number | null;
  readonly cacheRead: number | null;
  /** Tokens of the whole request, cached or not. Some prices depend on it. */
  readonly context: number;
}

/** More than any request or session ever took; sums of it stay far from where integers end. */
const MAX_TOKENS = 10_000_000_000;

const count = (value: unknown): number | null =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MAX_TOKENS ? value : null;

const first = (fields: Fields, names: readonly string[]) => firstOf(fields, names, count);

/** The sum of counts that lie beside each other; null when none was reported. */
export function total(counts: readonly (number | null)[]): number | null {
  const reported = counts.filter((value) => value !== null);
  return reported.length === 0 ? null : reported.reduce((sum, value) => sum + value, 0);
}

const sum = (...counts: readonly (number | null)[]) => total(counts);

/** What a record names a message by. */
type Ids = Pick<Usage, "id" | "requestId">;

function usageOf(ids: Ids, counts: Omit<Usage, keyof Ids | "context">): Usage | null {
  const { input, output, cacheWrite, cacheWrite1h, cacheRead } = counts;
  if ([input, output, cacheWrite, cacheWrite1h, cacheRead].every((value) => value === null)) return null;
  return { ...ids, ...counts, context: sum(input, cacheWrite, cacheWrite1h, cacheRead) ?? 0 };
}

/**
 * The provider's id of a request, as Claude Code's transcripts (`requestId`) and its telemetry (`request_id`) name it. Anthropic's
 * and OpenAI's begin with `req_`; anything else may be an id of an agent's own, for a turn of several calls.
 */
export function readRequestId({ requestId, request_id }: Fields): string | null {
  const id = readId(requestId) ?? readId(request_id);
  return id?.startsWith("req_") ? id : null;
}

/** Ids that Anthropic, OpenAI, and those who speak like them give to one answer alone. */
const ANSWER = /^(?:msg_|chatcmpl-|resp_)[\w-]{20,}$/;
const CALL = /^(?:chat|a?(?:text_)?completion|generate_content|anthropic_messages|a?responses)$/i;

/** Whether a value of `gen_ai.operation.name` is that of one call of a model, also as LiteLLM calls it. */
export const isModelCall = (operation: string | undefined): boolean => CALL.test(operation ?? "");

/** An id of an answer, by its form; undefined for anything else. */
export function asAnswerId(value: unknown): string | undefined {
  const id = readId(value);
  return id !== undefined && ANSWER.test(id) ? id : undefined;
}

/**
 * The provider's id of a call's answer, told by its form: agents give an id of their own to several calls, and that of their last call to
 * themselves.
 */
const readAnswerId = (attributes: Fields): string | null =>
  (isModelCall(readId(attributes["gen_ai.operation.name"])) && asAnswerId(attributes["gen_ai.response.id"])) || null;

/** Takes what was cached out of an input that includes it. An input smaller than that does not include it. */
function outside(input: number | null, cached: number | null): number | null {
  return input !== null && cached !== null && cached <= input ? input - cached : input;
}

/** What was written to Anthropic's caches. Older records have the total without its parts. */
function anthropicWrites(usage: Fields): { cacheWrite: number | null; cacheWrite1h: number | null } {
  const parts = asObject(usage.cache_creation);
  const short = count(parts.ephemeral_5m_input_tokens);
  const cacheWrite1h = count(parts.ephemeral_1h_input_tokens);
  const total = count(usage.cache_creation_input_tokens);
  if (total === null) return { cacheWrite: short, cacheWrite1h };
  return { cacheWrite: Math.max(total - (cacheWrite1h ?? 0), short ?? 0), cacheWrite1h };
}

const ANTHROPIC = ["cache_creation_input_tokens", "cache_read_input_tokens", "cache_creation"];
const BEDROCK = ["cacheReadInputTokens", "cacheWriteInputTokens"];

/**
 * Reads a `usage` object as providers and their tools write it: Anthropic (Messages), OpenAI (Responses, Chat Completions), Codex, Google
 * Gemini (`usageMetadata`) and its command line, GitHub Copilot, Amazon Bedrock (Converse), Vercel's AI SDK. Anthropic and Bedrock count
 * their input without what was cached, all others with it; thinking is part of the output.
 * @returns null when it reports no tokens
 */
export function readUsage(value: unknown): Usage | null {
  // Most spans have no usage, and there are thousands of them.
  if (!isObject(value)) return null;
  const usage: Fields = value;
  const ids = { id: readId(usage.id) ?? null, requestId: readRequestId(usage) };
  if (usage.prompt_tokens === undefined && ANTHROPIC.some((name) => name in usage))
    return usageOf(ids, {
      input: count(usage.input_tokens),
      output: count(usage.output_tokens),
      ...anthropicWrites(usage),
      cacheRead: count(usage.cache_read_input_tokens),
    });
  if (BEDROCK.some((name) => name in usage))
    return usageOf(ids, {
      input: count(usage.inputTokens),
      output: count(usage.outputTokens),
      cacheWrite: count(usage.cacheWriteInputTokens),
      cacheWrite1h: null,
      cacheRead: count(usage.cacheReadInputTokens),
    });
  const details =
    [usage.input_tokens_details, usage.prompt_tokens_details, usage.inputTokenDetails].find(isObject) ?? {};
  const cacheRead =
    first(details, ["cached_tokens", "cacheReadTokens"]) ??
    first(usage, [
      "cached_input_tokens",
      "cachedContentTokenCount",
      "cachedInputTokens",
      "cacheReadTokens",
      "cache_read_input_tokens",
      "cached",
    ]);
  const cacheWrite =
    first(details, ["cache_write_tokens", "cacheWriteTokens"]) ??
    first(usage, ["cacheWriteTokens", "cache_creation_input_tokens", "cache_write_input_tokens"]);
  const input = first(usage, [
    "input_tokens",
    "prompt_tokens",
    "promptTokenCount",
    "inputTokens",
    "promptTokens",
    "input",
  ]);
  const output = first(usage, [
    "output_tokens",
    "completion_tokens",
    "candidatesTokenCount",
    "outputTokens",
    "completionTokens",
    "output",
  ]);
  return usageOf(ids, {
    // What tools put into a Gemini request is not part of its prompt's count.
    input: sum(outside(input, sum(cacheRead, cacheWrite)), first(usage, ["toolUsePromptTokenCount", "tool"])),
    // Gemini reports thinking beside its answer; the others include it.
    output: sum(output, first(usage, ["thoughtsTokenCount", "thoughts"])),
    cacheWrite,
    cacheWrite1h: null,
    cacheRead,
  });
}

/** OpenTelemetry's attributes, as an object or as the list that OTLP/JSON writes; 64-bit integers come as text there. */
export function readAttributes(value: unknown): Fields {
  if (!Array.isArray(value)) return asObject(value);
  const attributes: Record<string, unknown> = {};
  for (const attribute of value) {
    const { key, value: wrapped } = asObject(attribute);
    // An assignment to this name would set the prototype and no member.
    if (typeof key !== "string" || key === "__proto__") continue;
    const { stringValue, intValue, doubleValue, boolValue } = asObject(wrapped);
    attributes[key] = stringValue ?? intValue ?? doubleValue ?? boolValue;
  }
  return attributes;
}

/** 64-bit integers come as text. */
const asNumber = (value: unknown) => (typeof value === "string" && /^\d{1,11}$/.test(value) ? Number(value) : value);

const USAGE = "gen_ai.usage.";
const named = (...names: string[]) => names.map((name) => USAGE + name);
const CACHE_READ = named(
  "cache_read.input_tokens",
  "cache_read_input_tokens",
  "cache_read_tokens",
  "cached_input_tokens",
  "input_tokens.cached",
);
const CACHE_WRITE = named(
  "cache_write.input_tokens",
  "cache_creation.input_tokens",
  "cache_write_input_tokens",
  "cache_creation_input_tokens",
  "cache_write_tokens",
  "cache_creation_tokens",
  "input_tokens.cache_write",
);
const INPUT = named("input_tokens", "prompt_tokens");
const OUTPUT = named("output_tokens", "completion_tokens");

const TOTAL = named("total_tokens");

const tokenCount = (value: unknown) => count(asNumber(value));

/**
 * Reads `gen_ai.usage.*` of OpenTelemetry's semantic conventions for generative AI, with the names that they had before or are
 * to have, and those that agents and libraries write instead. The input includes what was cached.
 */
export function readAttributeUsage(attributes: Fields): Usage | null {
  if (!Object.keys(attributes).some((name) => name.startsWith(USAGE))) return null;
  const tokens = (names: readonly string[]) => firstOf(attributes, names, tokenCount);
  const [cacheRead, cacheWrite] = [tokens(CACHE_READ), tokens(CACHE_WRITE)];
  const [input, output] = [tokens(INPUT), tokens(OUTPUT)];
  const all = tokens(TOTAL);
  // Amazon Bedrock's input excludes what was cached, and some libraries pass it on so, which the total shows.
  const isApart = all === sum(input, output, cacheRead, cacheWrite);
  // Gemini reports thinking beside its answer, and some libraries leave it out of the output: it is then the rest of the total.
  const isGemini = /gemini/i.test(readAttributeModel(attributes) ?? "");
  const thought = isGemini && !isApart && all !== null ? all - (sum(input, output) ?? 0) : 0;
  return usageOf(
    { id: readAnswerId(attributes), requestId: readRequestId(attributes) },
    {
      input: isApart ? input : outside(input, sum(cacheRead, cacheWrite)),
      output: thought > 0 ? sum(output, thought) : output,
      cacheWrite,
      cacheWrite1h: null,
      cacheRead,
    },
  );
}

/** The model that answered, or else the one that was asked for. */
export function readAttributeModel(attributes: Fields): string | null {
  return readId(attributes["gen_ai.response.model"]) ?? readId(attributes["gen_ai.request.model"]) ?? null;
}

/** A cost in dollars as agents report it. Above a million for one call or session it is not believed. */
export function readCost(value: unknown): number | null {
  return typeof value === "number" && value >= 0 && value <= 1_000_000 ? value : null;
}
