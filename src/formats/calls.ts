import { each, type Slices } from "../kit/slices.ts";
import { type Stray, type Sum, sumsOf, type Timed } from "./stray-calls.ts";
import { isModelCall, total, type Usage } from "./usage.ts";

/** The parts of a span that decide what is counted. */
export interface Call extends Timed {
  readonly externalId: string;
  readonly parentId: string | null;
  readonly name: string | null;
  readonly kind: string | null;
  /** OpenTelemetry's `gen_ai.operation.name`. */
  readonly operation: string | null;
  readonly usage: Usage | null;
}

/**
 * What a span stands for: a model call; a tool, under which the calls of others are counted apart; or a sum of the calls below it (an
 * agent, a workflow, and the outer span of Vercel's AI SDK). Told by OpenTelemetry's operation, else by the kind or name that observability
 * tools give.
 */
type Part = "call" | "tool" | "sum" | "unknown";

function partOf({ operation, kind, name }: Call): Part {
  if (operation !== null) {
    if (operation === "execute_tool") return "tool";
    if (/^(?:invoke|create)_(?:agent|workflow)$/.test(operation)) return "sum";
    return isModelCall(operation) ? "call" : "unknown";
  }
  const [ofKind, called] = [kind?.toLowerCase() ?? "", name ?? ""];
  if (ofKind === "tool" || /^execute_tool\b/.test(called)) return "tool";
  if (/^(?:agent|workflow|chain)$/.test(ofKind) || SUMS.test(called)) return "sum";
  return /^(?:generation|llm)$/.test(ofKind) ? "call" : "unknown";
}

const SUMS = /^invoke_(?:agent|workflow)\b|^ai\.(?:generate|stream)(?:Text|Object)$/;

const hasTokens = ({ usage }: Call): boolean => usage !== null && (usage.context > 0 || (usage.output ?? 0) > 0);

/** Usage that counts below a span: the number of spans, and their tokens. */
interface Below {
  count: number;
  context: number;
  output: number;
}
const nothing = (): Below => ({ count: 0, context: 0, output: 0 });

function addUp(to: Below, { count, context, output }: Below): void {
  to.count += count;
  to.context += context;
  to.output += output;
}

interface Node<T extends Call> {
  readonly span: T;
  readonly part: Part;
  above: Node<T> | undefined;
  /** Spans directly below that are not summed up yet. */
  open: number;
  /** Usage that counts anywhere below, and (`direct`) the part of it with neither a tool nor an agent in between. */
  readonly all: Below;
  readonly direct: Below;
}

/**
 * The spans of a session whose usage counts. A sum gives way to any usage below it. Every other span is a call of its own, unless the usage
 * that counts below it adds up to the same tokens: then it wraps those calls, or reports the same call again. Calls that a tool started are
 * no part of the call that used the tool. A usage with an id of the provider's always counts, one without tokens never. Calls below a span
 * that was not sent may be part of any sum, see `sumsOf`. In slices: a session may have very many spans.
 */
export function* countCalls<T extends Call>(sent: readonly T[]): Slices<(T & { readonly usage: Usage })[]> {
  const counted = new Set<T>();
  const spans = yield* namedAbove(sent);
  const nameOf = yield* nameMessages(spans);
  const fullest = yield* fullestOfEach(spans, nameOf);
  const nodes = yield* linked(spans);
  const order: Node<T>[] = [];
  yield* each(fromBelow(nodes), (node) => {
    const { span, part, above, all, direct } = node;
    order.push(node);
    const name = nameOf(span);
    const counts = hasTokens(span) && (name !== undefined || !repeats(span, part, all, direct));
    if (counts) {
      counted.add(span);
      // When several spans report a message, only one of them is part of a sum.
      if (name === undefined || fullest.get(name) === span) {
        const own = { count: 1, context: span.usage?.context ?? 0, output: span.usage?.output ?? 0 };
        addUp(all, own);
        addUp(direct, own);
      }
    }
    if (!above) return;
    addUp(above.all, all);
    if (part !== "tool" && part !== "sum") addUp(above.direct, direct);
  });
  const sums: Sum<T>[] = [];
  const strays: Stray[] = [];
  const tops = yield* topsOf(order.reverse());
  yield* each(nodes, (node) => {
    const { span, part, above, all } = node;
    const top = tops.get(node) ?? node;
    if (part === "sum" && counted.has(span)) {
      if (nameOf(span) !== undefined) return;
      sums.push({ span, missing: top.span.parentId });
      // A sum is no call, so it must not count among those below a stray.
      if (top !== node)
        addUp(top.all, { count: -1, context: -(span.usage?.context ?? 0), output: -(span.usage?.output ?? 0) });
    } else if (!above && span.parentId !== null)
      strays.push({
        missing: span.parentId,
        startedAt: span.startedAt ?? null,
        endedAt: span.endedAt ?? null,
        used: all,
      });
  });
  for (const sum of yield* sumsOf(sums, strays)) counted.delete(sum);
  return spans.filter((span): span is T & { usage: Usage } => counted.has(span));
}

function repeats({ usage }: Call, part: Part, all: Below, direct: Below): boolean {
  if (part === "sum" || part === "tool") return all.count > 0;
  // For one call, some instrumentations count more output than there was, such as what a stream begins with.
  const addsUp = ({ count, context, output }: Below) =>
    count > 0 && context === usage?.context && (output === (usage.output ?? 0) || (count === 1 && context > 0));
  return addsUp(direct) || (part === "unknown" && addsUp(all));
}

/**
 * The spans, each with the id of the call right above it when that has the same tokens: it wraps this one, which some instrumentations
 * report without its id.
 */
function* namedAbove<T extends Call>(spans: readonly T[]): Slices<readonly T[]> {
  const named = new Map<string, Usage>();
  yield* each(spans, ({ externalId, usage }) => {
    if (usage && usage.id !== null) named.set(externalId, usage);
  });
  if (named.size === 0) return spans;
  const all: T[] = [];
  yield* each(spans, (span) => {
    const [own, above] = [span.usage, named.get(span.parentId ?? "")];
    const isSame = own && own.id === null && above && own.context === above.context && own.output === above.output;
    all.push(isSame ? { ...span, usage: { ...own, id: above.id } } : span);
  });
  return all;
}

type NameOf = (call: Pick<Call, "usage">) => string | undefined;

/**
 * Names the messages of calls: by the provider's id of the message, or by that of its request. A request's id stands for its message when
 * both are reported together, but not when that happens with several messages.
 * @returns gives the name of a call's message, undefined where it has no id
 */
function* nameMessages(calls: Iterable<Pick<Call, "usage">>): Slices<NameOf> {
  const answers = new Map<string, string | null>();
  yield* each(calls, ({ usage }) => {
    const { id, requestId } = usage ?? { id: null, requestId: null };
    if (id === null || requestId === null) return;
    answers.set(requestId, (answers.get(requestId) ?? id) === id && answers.get(requestId) !== null ? id : null);
  });
  return ({ usage }) => {
    const { id, requestId } = usage ?? { id: null, requestId: null };
    if (id !== null) return `message ${id}`;
    if (requestId === null) return undefined;
    const message = answers.get(requestId) ?? null;
    return message === null ? `request ${requestId}` : `message ${message}`;
  };
}

/** By a message's name, the span that reports the largest output of it. */
function* fullestOfEach<T extends Call>(spans: readonly T[], nameOf: NameOf): Slices<Map<string, T>> {
  const fullest = new Map<string, T>();
  yield* each(spans, (span) => {
    const name = nameOf(span);
    if (name === undefined) return;
    if ((span.usage?.output ?? 0) >= (fullest.get(name)?.usage?.output ?? 0)) fullest.set(name, span);
  });
  return fullest;
}

/** The spans, each with its parent. */
function* linked<T extends Call>(spans: readonly T[]): Slices<readonly Node<T>[]> {
  const nodes: Node<T>[] = [];
  const byId = new Map<string, Node<T>>();
  yield* each(spans, (span) => {
    const node = { span, part: partOf(span), above: undefined, open: 0, all: nothing(), direct: nothing() };
    nodes.push(node);
    byId.set(span.externalId, node);
  });
  yield* each(nodes, (node) => {
    const above = node.span.parentId === null ? undefined : byId.get(node.span.parentId);
    if (!above || above === node) return;
    node.above = above;
    above.open++;
  });
  return nodes;
}

/** The topmost known ancestor of each span, or the span itself. @param nodes each after its parent */
function* topsOf<T extends Call>(nodes: readonly Node<T>[]): Slices<ReadonlyMap<Node<T>, Node<T>>> {
  const tops = new Map<Node<T>, Node<T>>();
  yield* each(nodes, (node) => {
    tops.set(node, (node.above && tops.get(node.above)) ?? node);
  });
  return tops;
}

/** The spans, each after all below it. Those whose parents form a cycle come last. */
function* fromBelow<T extends Call>(nodes: readonly Node<T>[]): Generator<Node<T>> {
  const ready = nodes.filter(({ open }) => open === 0);
  // `ready` grows during this loop.
  for (const node of ready) {
    yield node;
    if (node.above && --node.above.open === 0) ready.push(node.above);
  }
  yield* nodes.filter(({ open }) => open > 0);
}

/** Tokens by kind, as the provider counted them; null for a kind that was not reported. */
export interface Tokens {
  readonly input: number | null;
  readonly output: number | null;
  readonly cacheWrite: number | null;
  readonly cacheRead: number | null;
}

/**
 * The calls of a session that count, each once: of those with an id of the provider's (of the message or its request) the one with
 * the largest output.
 */
export function* callsOnce<T extends Call>(spans: readonly T[]): Slices<(T & { readonly usage: Usage })[]> {
  const counted = yield* countCalls(spans);
  const nameOf = yield* nameMessages(spans);
  const fullest = yield* fullestOfEach(counted, nameOf);
  return counted.filter((call) => {
    const name = nameOf(call);
    return name === undefined || fullest.get(name) === call;
  });
}

/** The tokens of calls added up. @returns undefined when there are none */
export function tokensOfCalls(calls: readonly { readonly usage: Usage }[]): Tokens | undefined {
  if (calls.length === 0) return undefined;
  const usages = calls.map(({ usage }) => usage);
  return {
    input: total(usages.map(({ input }) => input)),
    output: total(usages.map(({ output }) => output)),
    cacheWrite: total(usages.flatMap(({ cacheWrite, cacheWrite1h }) => [cacheWrite, cacheWrite1h])),
    cacheRead: total(usages.map(({ cacheRead }) => cacheRead)),
  };
}
