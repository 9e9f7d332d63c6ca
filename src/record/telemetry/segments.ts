import { type Core, slot } from "../../core.ts";
import { BlockCache } from "../../kit/blocks.ts";
import { entryAt, type PackedEntries, scan } from "./packed.ts";
import type { Entry } from "./rules.ts";
import { type SegmentRow, segmentRows } from "./segment-rows.ts";

/** An entry with where it is stored. */
export interface StoredEntry extends Entry {
  /** Rises with the ids of deliveries. */
  readonly id: number;
  readonly streamId: number;
  readonly deliveryId: number;
}

/** An entry that is stored, not read any further yet. */
export interface StoredAt {
  readonly segment: SegmentRow;
  readonly packed: PackedEntries;
  readonly index: number;
}

const blocks = slot(() => new BlockCache());

/** The texts of a segment; those of a block that is missing or damaged are empty, which verifying reports. */
export function textsOf(core: Core, { texts, blockId, blockAt, bytes }: SegmentRow): Buffer {
  if (blockId === null || blockAt === null) return texts ?? Buffer.alloc(0);
  return blocks(core)
    .texts(blockId, (id) => segmentRows(core.store).block.get(id))
    .subarray(blockAt, blockAt + bytes);
}

/** The entries of a segment. */
export const readSegment = (core: Core, row: SegmentRow): PackedEntries => scan(textsOf(core, row));

function storedAt({ firstId, streamId, deliveryId }: SegmentRow, packed: PackedEntries, i: number): StoredEntry {
  return { id: firstId + i, streamId, deliveryId, ...entryAt(packed, i) };
}

/** Where a seq belongs among ascending ones: the index of the first that is not smaller. */
export function indexOf(seqs: PackedEntries["seqs"], seq: number): number {
  let low = 0;
  let high = seqs.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((seqs[middle] as number) < seq) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Finds entries of a stream by seq. A segment is read once for entries of it that are asked for one after the other.
 * @throws Error where it is damaged, so that nothing is taken for new that may be stored
 */
export function streamReader(core: Core, streamId: number): (seq: number) => StoredAt | undefined {
  let segment: SegmentRow | undefined;
  let packed: PackedEntries | undefined;
  return (seq) => {
    if (!segment || seq < segment.firstSeq || seq > segment.lastSeq) {
      segment = segmentRows(core.store).ofStreamFrom.get(streamId, seq);
      if (segment && seq > segment.lastSeq) segment = undefined;
      packed = segment && readSegment(core, segment);
      if (packed?.seqs.length !== segment?.entries) throw new Error(`telemetry segment ${segment?.firstId} is damaged`);
    }
    if (!segment || !packed) return undefined;
    const index = indexOf(packed.seqs, seq);
    return packed.seqs[index] === seq ? { segment, packed, index } : undefined;
  };
}

/** The entry of a stream under a seq. */
export function entryBySeq(core: Core, streamId: number, seq: number): StoredEntry | undefined {
  const [entry] = streamDown(core, streamId, seq + 1, 1);
  return entry?.seq === seq ? entry : undefined;
}

/** The entry of a number. */
export function entryById(core: Core, id: number): StoredEntry | undefined {
  const [entry] = entriesDown(core, id, 1);
  return entry?.id === id ? entry : undefined;
}

type Met = Pick<StoredEntry, "id" | "deliveryId">;

/** The newest entry up to a number, itself included. */
export function nearestDown(core: Core, id: number): Met | undefined {
  const met = segmentRows(core.store).factsFrom.get(id);
  return met && { id: Math.min(id, met.firstId + met.entries - 1), deliveryId: met.deliveryId };
}

/** The oldest entry from a number on, itself included. */
export function nearestUp(core: Core, id: number): Met | undefined {
  const below = nearestDown(core, id);
  if (below?.id === id) return below;
  const met = segmentRows(core.store).factsAfter.get(id);
  return met && { id: met.firstId, deliveryId: met.deliveryId };
}

/** Entries from a number on, against the order of arrival. */
export function entriesDown(core: Core, from: number, count: number): StoredEntry[] {
  const sql = segmentRows(core.store);
  const found: StoredEntry[] = [];
  for (let id = from; found.length < count; ) {
    const firstId = sql.factsFrom.get(id)?.firstId;
    const segment = firstId === undefined ? undefined : sql.segment.get(firstId);
    if (!segment) break;
    const packed = readSegment(core, segment);
    for (let i = Math.min(id - segment.firstId, packed.seqs.length - 1); i >= 0 && found.length < count; i--)
      found.push(storedAt(segment, packed, i));
    id = segment.firstId - 1;
  }
  return found;
}

/** The same in the order of arrival. */
export function entriesUp(core: Core, from: number, count: number): StoredEntry[] {
  const sql = segmentRows(core.store);
  const found: StoredEntry[] = [];
  let id: number | undefined = sql.factsFrom.get(from)?.firstId ?? sql.factsAfter.get(from)?.firstId;
  while (id !== undefined && found.length < count) {
    const segment = sql.segment.get(id) as SegmentRow;
    if (segment.firstId + segment.entries > from) {
      const packed = readSegment(core, segment);
      for (let i = Math.max(0, from - segment.firstId); i < packed.seqs.length && found.length < count; i++)
        found.push(storedAt(segment, packed, i));
    }
    id = sql.factsAfter.get(id)?.firstId;
  }
  return found;
}

/** Entries of a stream below a seq, against the order of seq. */
export function streamDown(core: Core, streamId: number, below: number, count: number): StoredEntry[] {
  const sql = segmentRows(core.store);
  const found: StoredEntry[] = [];
  let segment = sql.ofStreamFrom.get(streamId, below - 1);
  while (segment && found.length < count) {
    const packed = readSegment(core, segment);
    for (let i = indexOf(packed.seqs, below) - 1; i >= 0 && found.length < count; i--)
      found.push(storedAt(segment, packed, i));
    segment = sql.ofStreamFrom.get(streamId, segment.firstSeq - 1);
  }
  return found;
}

/** Entries of a stream above a seq, in the order of seq. */
export function streamUp(core: Core, streamId: number, above: number, count: number): StoredEntry[] {
  const sql = segmentRows(core.store);
  const found: StoredEntry[] = [];
  let segment = sql.ofStreamFrom.get(streamId, above) ?? sql.ofStreamAfter.get(streamId, above);
  while (segment && found.length < count) {
    const packed = readSegment(core, segment);
    for (let i = indexOf(packed.seqs, above + 1); i < packed.seqs.length && found.length < count; i++)
      found.push(storedAt(segment, packed, i));
    segment = sql.ofStreamAfter.get(streamId, segment.firstSeq);
  }
  return found;
}
