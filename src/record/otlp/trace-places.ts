import { type Core, slot } from "../../core.ts";
import { sessionPieces } from "../traces/traces.ts";

/** The session in which spans of a trace are recorded. */
export type Place = readonly [traceId: string, session: string];

/** A trace lasts for minutes; one of so many before is not looked for any more. */
const MAX_KNOWN = 10_000;

/** By device and trace, what spans called the session of the trace, while the server runs; the newest last. */
const named = slot(() => new Map<string, string>());

const keyOf = (deviceId: string, traceId: string) => `${deviceId} ${traceId}`;

/** Keeps in mind which sessions spans of a device named. */
export function rememberPlaces(core: Core, deviceId: string, places: readonly Place[]): void {
  const known = named(core);
  for (const [traceId, session] of places) {
    const key = keyOf(deviceId, traceId);
    known.delete(key);
    known.set(key, session);
  }
  for (const key of known.keys()) {
    if (known.size <= MAX_KNOWN) return;
    known.delete(key);
  }
}

/** Where spans of some traces of a device are recorded: without a name in a session called by the trace, once that has calls; else by what was named. */
export function placesOf(core: Core, deviceId: string, traceIds: readonly string[]): Place[] {
  const alone = new Set(sessionPieces.withCalls(core, deviceId, traceIds));
  return traceIds.flatMap((traceId): Place[] => {
    const session = alone.has(traceId) ? traceId : named(core).get(keyOf(deviceId, traceId));
    return session === undefined ? [] : [[traceId, session]];
  });
}
