import { type Core, slot } from "../../core.ts";
import { sessionPieces } from "../traces/traces.ts";

/** The session in which spans of a trace are recorded; whether they are sums without a name whose calls did not come yet. */
export type Place = readonly [traceId: string, session: string, awaitsCalls?: boolean];

/** Traces remembered of all devices together. A trace lasts for minutes, so nobody asks for one that so many others followed. */
const MAX_KNOWN = 10_000;

/** The session that spans named for a trace, by device and trace, while the server runs; the newest last. */
const named = slot(() => ({ size: 0, ofDevices: new Map<string, Map<string, string>>() }));

/** Devices that told of sums without a name, while the server runs. */
const summing = slot(() => new Set<string>());

/** Keeps in mind that a device tells of sums that name no session. */
export const rememberNamelessSum = (core: Core, deviceId: string): unknown => summing(core).add(deviceId);

/** Whether it did, since the server started. */
export const tellsNamelessSums = (core: Core, deviceId: string): boolean => summing(core).has(deviceId);

/** Keeps in mind which sessions spans of a device named. */
export function rememberPlaces(core: Core, deviceId: string, places: readonly Place[]): void {
  if (places.length === 0) return;
  const known = named(core);
  const own = known.ofDevices.getOrInsert(deviceId, new Map());
  known.size -= own.size;
  for (const [traceId, session] of places) {
    own.delete(traceId);
    own.set(traceId, session);
  }
  known.size += own.size;
  while (known.size > MAX_KNOWN) forgetSome(known);
}

/** Forgets the oldest traces of the device with the most: what one exports must not drive out what others did. */
function forgetSome(known: ReturnType<typeof named>): void {
  let [most, from] = ["", new Map<string, string>()];
  for (const [deviceId, own] of known.ofDevices) if (own.size > from.size) [most, from] = [deviceId, own];
  let left = Math.min(known.size - MAX_KNOWN, Math.ceil(from.size / 2));
  known.size -= left;
  for (const traceId of from.keys()) {
    if (left-- === 0) break;
    from.delete(traceId);
  }
  if (from.size === 0) known.ofDevices.delete(most);
}

/**
 * The sessions in which spans of some traces of a device are recorded. A trace that named no session is recorded under its own id. Once
 * that session has calls, the trace stays there; before, the name that other spans of the trace gave is taken.
 */
export function placesOf(core: Core, deviceId: string, traceIds: readonly string[]): Place[] {
  const work = sessionPieces.workOf(core, deviceId, traceIds);
  const alone = new Map(work.map(({ externalId, hasCalls }) => [externalId, hasCalls]));
  const own = named(core).ofDevices.get(deviceId);
  return traceIds.flatMap((traceId): Place[] => {
    const hasCalls = alone.get(traceId);
    const session = hasCalls ? undefined : own?.get(traceId);
    if (session !== undefined) return [[traceId, session]];
    return hasCalls === undefined ? [] : [[traceId, traceId, !hasCalls]];
  });
}
