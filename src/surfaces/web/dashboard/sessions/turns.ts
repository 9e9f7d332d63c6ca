import { callsOnce, type Tokens, tokensOfCalls } from "../../../../formats/calls.ts";
import { priceCalls } from "../../../../insight/spend/spend.ts";
import { inSlices } from "../../../../kit/slices.ts";
import { cooperative } from "../../../../kit/yield.ts";
import type { Session, Span } from "../../../../record/traces/traces.ts";
import type { Member } from "../shared/call.ts";

/** A session as a conversation: what happened, in order, and what each prompt led to. */

/** Something that happened, and when: milliseconds since the epoch. */
export type Event = { readonly at: number | null } & (
  | { readonly kind: "prompt"; readonly number: number; readonly prompt: Session["prompts"][number] }
  | { readonly kind: "step"; readonly span: Span }
  | { readonly kind: "commit"; readonly sha: string }
  | { readonly kind: "label"; readonly label: Session["labels"][number] }
);

/** What model calls used. */
export interface Usage {
  readonly calls: number;
  readonly tokens: Tokens | undefined;
  /** In US dollars at the prices of the day; null where no call has a known price. */
  readonly usd: number | null;
  /** Calls of models without a known price. */
  readonly unpriced: number;
  /** In US dollars, as the agent itself says; null where it does not. */
  readonly reportedUsd: number | null;
}

/** A prompt and all that followed from it, up to the next. */
export interface Turn {
  /** From 1; 0 for what came before the first prompt. */
  readonly number: number;
  /** The place of its first event among all. */
  readonly first: number;
  readonly events: Event[];
}

/** Kinds of spans that stand for others below them. Alone they tell nothing, or repeat what a call below them tells. */
const FRAMES = new Set(["turn", "session", "agent", "workflow", "chain"]);

/** @param aboveCalls ids of spans below which others tell what they used */
const isFrame = ({ externalId, kind, edits, failure, usage }: Span, aboveCalls: ReadonlySet<string | null>): boolean =>
  FRAMES.has(kind?.toLowerCase() ?? "") &&
  edits.length === 0 &&
  failure === null &&
  (usage === null || aboveCalls.has(externalId));

/**
 * The steps that failed, in their order. Of a step that failed because a step below it did, only the lower one is listed. Of a session
 * whose steps are too large to be read together, those that were read.
 */
export function failedSteps(spans: readonly Span[]): ReadonlySet<Span> {
  const failed = spans.filter(({ failure }) => failure !== null);
  if (failed.length === 0) return new Set();
  const byId = new Map(spans.map((span) => [span.externalId, span]));
  const above = new Set<Span>();
  for (const span of failed) {
    let parent = byId.get(span.parentId ?? "");
    // A parent that was visited before leads to the same.
    while (parent && parent !== span && !above.has(parent)) {
      above.add(parent);
      parent = byId.get(parent.parentId ?? "");
    }
  }
  return new Set(failed.filter((span) => !above.has(span)));
}

/** All that a session tells of, by time; what has no time comes last, and what happened at once stays as it was sent. */
export function eventsOf({ prompts, spans, commits, labels }: Session): Event[] {
  const startOf = new Map(spans.map(({ externalId, startedAt }) => [externalId, startedAt]));
  const prompted = prompts.map(
    (prompt, i): Event => ({
      kind: "prompt",
      at: startOf.get(prompt.spanId ?? "") ?? prompt.at,
      number: i + 1,
      prompt,
    }),
  );
  const turns = spans.filter(({ kind }) => kind === "turn");
  // Agents that tell no times still tell the order in which turns and steps came.
  const inTurns =
    turns.length === prompted.length && turns.every(({ startedAt }, i) => startedAt === (prompted[i]?.at ?? startedAt));
  const places = new Map(inTurns ? turns.map((span, i) => [span, prompted[i] as Event]) : []);
  const aboveCalls = new Set(spans.flatMap(({ parentId, usage }) => (usage ? [parentId] : [])));
  const steps = spans.flatMap((span): Event[] => {
    const at = span.startedAt ?? span.endedAt;
    const prompt = places.get(span);
    if (prompt) return [{ ...prompt, at }];
    return isFrame(span, aboveCalls) ? [] : [{ kind: "step", at, span }];
  });
  const events: Event[] = [
    ...(inTurns ? [] : prompted),
    ...steps,
    ...commits.map(({ sha, at }): Event => ({ kind: "commit", at, sha })),
    ...labels.map(
      (label): Event => ({
        kind: "label",
        at: label.spanId === null ? null : (startOf.get(label.spanId) ?? null),
        label,
      }),
    ),
  ];
  return events.sort((a, b) => (a.at ?? Infinity) - (b.at ?? Infinity) || 0);
}

export function turnsOf(events: readonly Event[]): Turn[] {
  const turns: Turn[] = [];
  for (const [i, event] of events.entries()) {
    const number = event.kind === "prompt" ? event.number : 0;
    if (event.kind === "prompt" || turns.length === 0) turns.push({ number, first: i, events: [] });
    turns.at(-1)?.events.push(event);
  }
  return turns;
}

/** How long a turn took until its last step, in milliseconds; null where that is not told. A commit may be made days later. */
export function lengthOf({ events }: Turn): number | null {
  const from = events[0]?.at ?? null;
  const ends = events.flatMap((event) => (event.kind === "step" ? [event.span.endedAt ?? event.at] : []));
  const to = ends.reduce((a: number | null, b) => (b !== null && (a === null || b > a) ? b : a), null);
  return from === null || to === null || to <= from ? null : to - from;
}

/** Gives what the model calls among some spans of a session used, each counted once in the whole session. */
export type UsageOfSpans = (spans: Iterable<Span>) => Usage;

/** Counts the calls of a session, giving way to other work where they are very many. */
export async function usageOf({ core }: Member, session: Session): Promise<UsageOfSpans> {
  const counted = await inSlices(callsOnce(session.spans), cooperative(core.clock));
  const priced = priceCalls(
    core,
    counted.map(({ usage, model, startedAt, endedAt }) => ({
      usage,
      model: model ?? session.model,
      at: startedAt ?? endedAt ?? session.startedAt ?? session.createdAt,
    })),
  );
  const known = new Map(counted.map((call, i) => [call.id, { call, usd: priced[i] ?? null }]));
  return (spans) => {
    const found = [...spans].flatMap(({ id }) => known.get(id) ?? []);
    const costs = found.flatMap(({ usd }) => usd ?? []);
    const reported = found.flatMap(({ call }) => call.costUsd ?? []);
    return {
      calls: found.length,
      tokens: tokensOfCalls(found.map(({ call }) => call)),
      usd: costs.length === 0 ? null : sum(costs),
      unpriced: found.length - costs.length,
      reportedUsd: reported.length === 0 ? null : sum(reported),
    };
  };
}

const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);
