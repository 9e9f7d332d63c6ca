import { sumsUp } from "./generic-spans.ts";
import { sessionOf } from "./happening.ts";
import type { SpanRecord } from "./records.ts";
import type { Place } from "./remembered-traces.ts";

/** The sessions that the traces of a request belong to, as far as that is known. */
export interface PlacedTraces {
  /** The session that spans of a trace name, or named before; undefined where none is known to. */
  sessionOf(traceId: string): string | undefined;
  /**
   * Whether calls of the trace came before without a session's name. A span that sums them up belongs to them: elsewhere they would count
   * twice.
   */
  isAlone(traceId: string): boolean;
  /** Whether a sum of the trace came before without a session's name, and none of its calls: the calls belong to it. */
  awaitsCalls(traceId: string): boolean;
  /** Those that spans of the request name. */
  named(): Place[];
  /** Whether a sum of the request names no session, nor does any other span of its trace. */
  readonly hasNamelessSum: boolean;
}

/** Traces of one question. */
const ASKED = 500;

/** What is known already of where traces of a device lie. */
export interface Places {
  /** Whether the device has told of sums that name no session: calls that do name one may belong to them. */
  readonly tellsNamelessSums: boolean;
  /** Asks the main thread in which sessions spans of some traces are recorded already. */
  placesOf(traceIds: readonly string[]): Promise<readonly Place[]>;
}

/** Looks up where the traces of a request lie, except those of which the request itself tells all. */
export async function placeTraces(
  spans: readonly SpanRecord[],
  { tellsNamelessSums, placesOf }: Places,
): Promise<PlacedTraces> {
  const named = new Map<string, string>();
  for (const { traceId, attributes } of spans) {
    const session = sessionOf(attributes);
    if (session !== undefined && !named.has(traceId)) named.set(traceId, session);
  }
  const isNameless = (span: SpanRecord) =>
    !named.has(span.traceId) && sessionOf(span.attributes, span.resource) === undefined;
  const open = spans.filter((span) => tellsNamelessSums || sumsUp(span) || isNameless(span));
  const traceIds = [...new Set(open.map(({ traceId }) => traceId))];
  const before = new Map<string, string>();
  const awaiting = new Set<string>();
  for (let from = 0; from < traceIds.length; from += ASKED)
    for (const [traceId, session, awaitsCalls] of await placesOf(traceIds.slice(from, from + ASKED))) {
      before.set(traceId, session);
      if (awaitsCalls) awaiting.add(traceId);
    }
  const isAlone = (traceId: string) => before.get(traceId) === traceId;
  return {
    sessionOf: (traceId) => named.get(traceId) ?? (isAlone(traceId) ? undefined : before.get(traceId)),
    isAlone,
    awaitsCalls: (traceId) => awaiting.has(traceId),
    named: () => [...named].filter(([traceId]) => !isAlone(traceId)),
    hasNamelessSum: spans.some((span) => sumsUp(span) && isNameless(span)),
  };
}
