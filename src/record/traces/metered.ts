import type { Core } from "../../core.ts";
import { type Call, countCalls } from "../../formats/calls.ts";
import { isExported } from "../../formats/exported.ts";
import { understandSession, understandSpan } from "../../formats/session.ts";
import type { Usage } from "../../formats/usage.ts";
import { asObject } from "../../formats/values.ts";
import { inSlices, type Slices } from "../../kit/slices.ts";
import { cooperative } from "../../kit/yield.ts";
import { documentOf } from "./documents.ts";
import { followRows, type SessionPlaceRow, type SessionSourceRow } from "./follow-rows.ts";
import { parsedMembers, type SpanFacts } from "./rules.ts";
import { SIGNS } from "./signs.ts";

/** A model call of a session. */
interface MeteredCall {
  readonly usage: Usage;
  /** The cost that its span gives. A cost without usage could be the sum of others, and is not read. */
  readonly costUsd: number | null;
  readonly model: string | null;
  /** Milliseconds since the epoch; null when the span tells no time. */
  readonly at: number | null;
  /** Whether the agent exported it over OTLP. */
  readonly isOtlp: boolean;
}

/** A session's use of models: each counted call once, and its own account of the whole. */
export interface MeteredSession extends Omit<SessionSourceRow, "document"> {
  readonly calls: readonly MeteredCall[];
  readonly usage: Usage | null;
  readonly costUsd: number | null;
}

const BATCH_SPANS = 100;

/** Reads a session with the usage its spans tell of, letting other requests in between. */
export async function readMetered(core: Core, id: number): Promise<MeteredSession | undefined> {
  const sql = followRows(core.store);
  const row = sql.session.get(id);
  if (!row) return undefined;
  const yieldNow = cooperative(core.clock);
  const spans: Metered[] = [];
  for (let after = 0; ; ) {
    const batch = sql.meteredSpans.all(SIGNS.usage, id, after, BATCH_SPANS);
    for (const { mayTell, plain, blockId, blockAt, bytes, ...span } of batch)
      spans.push(readSpan(span, mayTell ? documentOf(core, { plain, blockId, blockAt, bytes }) : null));
    after = batch.at(-1)?.id ?? after;
    if (batch.length < BATCH_SPANS) break;
    await yieldNow();
  }
  const { document, ...facts } = row;
  const { usage, costUsd } = understandSession(parsedMembers(document, ["usage", "costUsd"]));
  return { ...facts, calls: await inSlices(countOfEach(spans), yieldNow), usage, costUsd };
}

/** Exported and other spans are two tellings of the session: neither is a part of the other's sums. */
function* countOfEach(spans: readonly Metered[]): Slices<readonly MeteredCall[]> {
  const exported = spans.filter(({ isOtlp, usage }) => isOtlp && usage).length;
  if (exported === 0 || spans.every(({ isOtlp, usage }) => isOtlp || !usage)) return yield* countCalls(spans);
  const only = (isOtlp: boolean) => spans.map((span) => (span.isOtlp === isOtlp ? span : { ...span, usage: null }));
  return [...(yield* countCalls(only(true))), ...(yield* countCalls(only(false)))];
}

type Metered = Call & Omit<MeteredCall, "usage">;

/** @param document null when nothing in it could tell of usage */
function readSpan(span: SpanFacts & { readonly externalId: string }, document: string | null): Metered {
  const at = span.startedAt ?? span.endedAt;
  if (document === null)
    return { ...span, operation: null, usage: null, costUsd: null, model: null, at, isOtlp: false };
  const fields = asObject(JSON.parse(document));
  const { usage, operation, costUsd, model } = understandSpan(fields);
  return { ...span, operation, usage, costUsd, model, at, isOtlp: isExported(fields) };
}

/** What a device's session says of itself, for entries that name it. */
export function placeOfSession(core: Core, deviceId: string, externalId: string): SessionPlaceRow | undefined {
  return followRows(core.store).place.get(deviceId, externalId);
}
