import { sessionOf } from "./happening.ts";
import type { SpanRecord } from "./records.ts";
import type { Place } from "./remembered-traces.ts";

/** In which sessions the traces of a request belong, as far as that is known. */
export interface PlacedTraces {
  /** The session that spans of a trace name, or named before; undefined where none is known to. */
  sessionOf(traceId: string): string | undefined;
  /** Whether calls of the trace came before without the name of a session: what sums them up belongs to them, or they would count twice. */
  isAlone(traceId: string): boolean;
  /** Whether a sum of the trace came before without that name, and none of its calls: these belong to it. */
  awaitsCalls(traceId: string): boolean;
  /** Those that spans of the request name. */
  named(): Place[];
}

/** Traces of one question. */
const ASKED = 500;

/** @param placesOf tells where spans of traces are recorded already */
export async function placeTraces(
  spans: readonly SpanRecord[],
  { placesOf }: { placesOf(traceIds: readonly string[]): Promise<readonly Place[]> },
): Promise<PlacedTraces> {
  const named = new Map<string, string>();
  for (const { traceId, attributes } of spans) {
    const session = sessionOf(attributes);
    if (session !== undefined && !named.has(traceId)) named.set(traceId, session);
  }
  const traceIds = [...new Set(spans.map(({ traceId }) => traceId))];
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
  };
}
