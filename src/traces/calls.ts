import type { Usage } from "./usage.ts";

/** A span as far as it matters for what is counted. */
export interface Call {
  readonly externalId: string;
  readonly parentId: string | null;
  readonly name: string | null;
  readonly kind: string | null;
  /** OpenTelemetry's `gen_ai.operation.name`. */
  readonly operation: string | null;
  readonly usage: Usage | null;
}

const isTool = ({ operation, kind, name }: Call) =>
  operation === "execute_tool" || (operation === null && (kind === "tool" || /^execute_tool\b/.test(name ?? "")));
const isAgent = ({ operation, kind, name }: Call) =>
  /^(?:invoke|create)_(?:agent|workflow)$/.test(operation ?? "") ||
  (operation === null && (kind === "agent" || /^invoke_agent\b/.test(name ?? "")));

const hasTokens = ({ usage }: Call): boolean => usage !== null && (usage.context > 0 || (usage.output ?? 0) > 0);

/**
 * The spans of a session whose usage counts. Spans of agents and of what wraps a model call repeat the sums of the calls
 * under them, so a span's usage gives way to that of spans below it. A model call keeps its own when what lies below was
 * started by a tool it called: there another agent works on its own account. A usage with the provider's id always counts, one
 * of no tokens never.
 */
export function countedCalls<T extends Call>(spans: readonly T[]): (T & { readonly usage: Usage })[] {
  const byId = new Map(spans.map((span) => [span.externalId, span]));
  // Each span is passed twice at most: once from below a tool, once directly, which says all that the other would.
  const passed = new Map<T, "directly" | "behind">();
  for (const span of spans) {
    if (!hasTokens(span)) continue;
    let behind = isTool(span) || isAgent(span);
    for (let above = parentOf(byId, span); above && above !== span; above = parentOf(byId, above)) {
      const before = passed.get(above);
      if (before === "directly" || (before === "behind" && behind)) break;
      passed.set(above, behind ? "behind" : "directly");
      behind ||= isTool(above) || isAgent(above);
    }
  }
  const repeats = (span: T) => {
    const how = passed.get(span);
    return how === "directly" || (how === "behind" && (isAgent(span) || isTool(span)));
  };
  return spans.filter(
    (span): span is T & { usage: Usage } => hasTokens(span) && (span.usage?.id != null || !repeats(span)),
  );
}

const parentOf = <T extends Call>(byId: ReadonlyMap<string, T>, { parentId }: T): T | undefined =>
  parentId === null ? undefined : byId.get(parentId);

/** Tokens by kind, as the provider counted them; null where nobody told of that kind. */
export interface Tokens {
  readonly input: number | null;
  readonly output: number | null;
  readonly cacheWrite: number | null;
  readonly cacheRead: number | null;
}

/**
 * The tokens of a session. A usage with an id (the provider's message) counts once, by the record with the largest output;
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
  for (const { usage: one } of countedCalls(spans)) {
    if (one.id === null) counted.push(one);
    else if ((one.output ?? 0) >= (byMessage.get(one.id)?.output ?? 0)) byMessage.set(one.id, one);
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
