import { sumsUp } from "./generic-spans.ts";
import { sessionOf } from "./happening.ts";
import type { SpanRecord } from "./records.ts";
import type { Place } from "./remembered-traces.ts";

/** In which sessions the traces of a request belong, as far as that is known. */
export interface PlacedTraces {
  /** The session that spans of a trace name, or named before; undefined where none is known to. */
  sessionOf(traceId: string): string | undefined;
  /** Whether calls of the trace came before without the name of a session: what sums them up belongs to them, or they would count twice. */
  isAlone(traceId: string): boolean;
  /** Those that spans of the request name. */
  named(): Place[];
}

/** Traces of one question. */
const ASKED = 500;

/** @param placesOf tells where spans of traces are recorded already; asked of those that a span sums up, or of which no span names a session */
export async function placeTraces(
  spans: readonly SpanRecord[],
  { placesOf }: { placesOf(traceIds: readonly string[]): Promise<readonly Place[]> },
): Promise<PlacedTraces> {
  const named = new Map<string, string>();
  for (const { traceId, attributes } of spans) {
    const session = sessionOf(attributes);
    if (session !== undefined && !named.has(traceId)) named.set(traceId, session);
  }
  const isOpen = (span: SpanRecord) =>
    sumsUp(span) || !(named.has(span.traceId) || sessionOf(span.attributes, span.resource));
  const open = [...new Set(spans.filter(isOpen).map(({ traceId }) => traceId))];
  const before = new Map<string, string>();
  for (let from = 0; from < open.length; from += ASKED)
    for (const [traceId, session] of await placesOf(open.slice(from, from + ASKED))) before.set(traceId, session);
  const isAlone = (traceId: string) => before.get(traceId) === traceId;
  return {
    sessionOf: (traceId) => named.get(traceId) ?? (isAlone(traceId) ? undefined : before.get(traceId)),
    isAlone,
    named: () => [...named].filter(([traceId]) => !isAlone(traceId)),
  };
}
