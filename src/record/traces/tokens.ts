import { type Call, countedCalls, messageNames } from "./calls.ts";
import type { Usage } from "./usage.ts";

/** Tokens by kind, as the provider counted them; null where nobody told of that kind. */
export interface Tokens {
  readonly input: number | null;
  readonly output: number | null;
  readonly cacheWrite: number | null;
  readonly cacheRead: number | null;
}

/**
 * The tokens of a session. A usage with an id of the provider's (of the message or its request) counts once, by the record with the largest output;
 * the session's own usage counts only when no span carries any.
 * @returns undefined when nothing tells of tokens
 */
export function tokensOf({
  spans,
  usage,
}: {
  readonly spans: readonly Call[];
  readonly usage: Usage | null;
}): Tokens | undefined {
  const byMessage = new Map<string, Usage>();
  const counted: Usage[] = [];
  const nameOf = messageNames(spans);
  for (const { usage: one } of countedCalls(spans)) {
    const name = nameOf({ usage: one });
    if (name === undefined) counted.push(one);
    else if ((one.output ?? 0) >= (byMessage.get(name)?.output ?? 0)) byMessage.set(name, one);
  }
  counted.push(...byMessage.values());
  if (counted.length === 0 && usage) counted.push(usage);
  if (counted.length === 0) return undefined;
  const sum = (of: (one: Usage) => readonly (number | null)[]) => {
    const told = counted.flatMap(of).filter((value) => value !== null);
    return told.length === 0 ? null : told.reduce((total, value) => total + value, 0);
  };
  return {
    input: sum((one) => [one.input]),
    output: sum((one) => [one.output]),
    cacheWrite: sum((one) => [one.cacheWrite, one.cacheWrite1h]),
    cacheRead: sum((one) => [one.cacheRead]),
  };
}
