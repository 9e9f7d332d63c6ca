import { readUsage } from "../../formats/usage.ts";
import { asObject, asText, type Fields, parseJson } from "../../formats/values.ts";

/** Python's text of a dictionary whose names and texts hold no quotes and no escapes; any other is not understood. */
const PLAIN_DICTIONARY = /^\{[\w\s'{}[\],:.+-]{0,10000}\}$/;
const NAMES_OF_VALUES: Readonly<Record<string, string>> = { "'": '"', None: "null", True: "true", False: "false" };

/**
 * Tokens as LiteLLM tells them (https://docs.litellm.ai/docs/observability/opentelemetry_integration): its `gen_ai.usage.*` leave out what
 * of the input was cached, which stands in a dictionary of Python's beside them.
 */
export function usageOfLiteLlm(attributes: Fields): Fields | undefined {
  const text = asText(attributes["metadata.usage_object"]);
  if (text === undefined || !PLAIN_DICTIONARY.test(text)) return undefined;
  const usage = asObject(
    parseJson(text.replace(/'|\b(?:None|True|False)\b/g, (word) => NAMES_OF_VALUES[word] as string)),
  );
  return readUsage(usage) === null ? undefined : usage;
}
