/** Prefixes of those who offer others' models, or lead to them. */
const HANDED_ON =
  /^(?:models|publishers\/[a-z]+\/models|anthropic|openai|google|gemini|vertex_ai|vertex|bedrock|azure|openrouter|github_copilot|copilot)\//;
const BEDROCK = /^(?:(?:us|us-gov|eu|apac|au|ca|jp|global)\.)?(?:anthropic|openai)\./;

/**
 * The names under which a model is looked up, in their order; the first that has a price decides. Nothing is guessed: a model
 * is found under its own name, under that name spelled as its provider spells it, or without the date of its release.
 *
 * 1. the name as told
 * 2. in lower case, without those who hand it on (`anthropic/`, `models/`, `us.anthropic.`) and without `[1m]`
 * 3. without the version that Bedrock or Vertex write behind it (`-v1:0`, `@20250929`, `@default`)
 * 4. for Claude, with dashes for the dots of its number (`claude-opus-4.5`)
 * 5. without `-latest`, the date of the release (`-20250929`, `-2025-08-07`) or, for Gemini, its number (`-001`)
 */
export function namesOf(model: string): string[] {
  const names = [model];
  let name = model
    .trim()
    .toLowerCase()
    .replace(/\[\d{1,3}[km]\]$/, "");
  while (HANDED_ON.test(name)) name = name.replace(HANDED_ON, "");
  name = name.replace(BEDROCK, "");
  names.push(name);
  name = name
    .replace(/-v\d{1,2}(?::\d{1,2})?$/, "")
    .replace(/@(?:default|latest)$/, "")
    .replace(/@(\d{8})$/, "-$1");
  names.push(name);
  if (name.startsWith("claude-")) name = name.replace(/(\d)\.(\d)/, "$1-$2");
  names.push(name);
  name = name.replace(/-latest$/, "").replace(/-20\d{6}$|-20\d\d-\d\d-\d\d$/, "");
  if (name.startsWith("gemini-")) name = name.replace(/-00\d$/, "");
  names.push(name);
  return [...new Set(names)];
}
