import type { Usage } from "./understood.ts";

/** Tokens by kind, as the provider counted them; null where nobody told of that kind. */
export interface Tokens {
  readonly input: number | null;
  readonly output: number | null;
  readonly cacheWrite: number | null;
  readonly cacheRead: number | null;
}

interface Told {
  readonly usage: Usage | null;
  readonly spans: readonly { readonly usage: Usage | null }[];
}

/**
 * The tokens of a session. A usage with an id (the provider's message) counts once, by the record with the largest output;
 * the session's own usage counts only when no span carries any.
 * @returns undefined when nothing tells of tokens
 */
export function tokensOf({ spans, usage }: Told): Tokens | undefined {
  const byMessage = new Map<string, Usage>();
  const counted: Usage[] = [];
  for (const { usage: one } of spans) {
    if (!one) continue;
    if (one.id === null) counted.push(one);
    else if ((one.outputTokens ?? 0) >= (byMessage.get(one.id)?.outputTokens ?? 0)) byMessage.set(one.id, one);
  }
  counted.push(...byMessage.values());
  if (counted.length === 0 && usage) counted.push(usage);
  if (counted.length === 0) return undefined;
  const sum = (member: Exclude<keyof Usage, "id">) => {
    const told = counted.map((one) => one[member]).filter((value) => value !== null);
    return told.length === 0 ? null : told.reduce((total, value) => total + value, 0);
  };
  return {
    input: sum("inputTokens"),
    output: sum("outputTokens"),
    cacheWrite: sum("cacheCreationTokens"),
    cacheRead: sum("cacheReadTokens"),
  };
}
