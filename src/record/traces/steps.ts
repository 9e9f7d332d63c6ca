import type { Core } from "../../core.ts";
import type { DevicePrincipal } from "../../identity/devices/devices.ts";
import { cooperative } from "../../kit/yield.ts";
import { MAX_BLOCK_BYTES } from "./documents.ts";
import type { Part } from "./parts.ts";
import type { ReadSession, ReadSpan } from "./read-batch.ts";
import { rows } from "./rows.ts";

/** Bytes of stored sessions and spans that one transaction rewrites, unless a single one is longer: everybody else waits meanwhile. */
const MAX_LAID_BYTES = 1024 * 1024;

/** Reading one span may unpack a whole block, which takes as long as rewriting so many bytes. */
const OPENING_COSTS = MAX_BLOCK_BYTES / 4;

/** A session of a part, with those of its spans that are stored in one step. */
interface Slice {
  readonly session: ReadSession;
  readonly spans: ReadSpan[];
  /** Whether the session begins in it. */
  readonly begins: boolean;
}

/**
 * Splits a part by how much stored data it changes, because a batch that says little may change much. Mostly there is one step, the part
 * itself.
 */
export async function stepsOf(core: Core, device: DevicePrincipal, part: Part): Promise<readonly Part[]> {
  const weigh = weigher(core, device, part);
  const yieldNow = cooperative(core.clock);
  const continued = part.sessions.length - part.items;
  const steps: Slice[][] = [[]];
  let room = MAX_LAID_BYTES;
  for (const [i, session] of part.sessions.entries()) {
    const { own, ofSpan } = weigh(session);
    /** Begins another step where rewriting so many bytes finds no room in this one. @returns whether it did */
    const cut = (bytes: number, roomAnew: number) => {
      const isFull = bytes > 0 && bytes > room && steps.at(-1)?.length !== 0;
      if (isFull) steps.push([]);
      room = (isFull ? roomAnew : room) - bytes;
      return isFull;
    };
    const open = (begins: boolean) => {
      const opened: Slice = { session, spans: [], begins };
      steps.at(-1)?.push(opened);
      return opened;
    };
    room = Math.min(room, MAX_LAID_BYTES);
    cut(own, MAX_LAID_BYTES);
    let slice = open(i >= continued);
    for (const span of session.spans) {
      // Each step that goes on with a session rewrites the session: it may rewrite at least as much besides.
      if (cut(ofSpan.get(span.externalId) ?? 0, Math.max(own, MAX_LAID_BYTES))) slice = open(false);
      slice.spans.push(span);
    }
    await yieldNow();
  }
  return steps.length < 2 ? [part] : steps.map((slices, i) => stepOf(part, slices, i === 0, i === steps.length - 1));
}

function stepOf(part: Part, slices: readonly Slice[], isFirst: boolean, isLast: boolean): Part {
  return {
    sessions: slices.map(({ session, spans }) => ({ ...session, spans })),
    labels: isLast ? part.labels : [],
    items: slices.filter(({ begins }) => begins).length,
    redacted: isFirst ? part.redacted : 0,
    withheld: isFirst ? part.withheld : 0,
    hashed: undefined,
  };
}

/** Tells how many bytes are stored of a session, and of each of its spans that was sent. */
function weigher(core: Core, { deviceId }: DevicePrincipal, { sessions }: Part) {
  const sql = rows(core.store);
  const sent = JSON.stringify([...new Set(sessions.map(({ externalId }) => externalId))]);
  const stored = new Map(sql.sessionBytes.all({ deviceId, sent }).map((one) => [one.externalId, one]));
  return ({ externalId, spans }: ReadSession): { own: number; ofSpan: ReadonlyMap<string, number> } => {
    const known = stored.get(externalId);
    if (!known) return { own: 0, ofSpan: new Map() };
    const ids = JSON.stringify(spans.map((span) => span.externalId));
    const opened = new Set<number>();
    const weightOf = ({ bytes, blockId }: { bytes: number; blockId: number | null }) => {
      if (blockId === null || opened.has(blockId)) return bytes;
      opened.add(blockId);
      return bytes + OPENING_COSTS;
    };
    const ofSpan = new Map(
      sql.spanBytes.all({ sessionId: known.id, sent: ids }).map((one) => [one.externalId, weightOf(one)]),
    );
    return { own: known.bytes, ofSpan };
  };
}
