import type { Core } from "../../core.ts";
import { type PackedEntries, slice } from "./packed.ts";
import { type SegmentRow, segmentRows } from "./segment-rows.ts";
import { indexOf, readSegment } from "./segments.ts";

/** Looking for one entry reads its whole segment, and a batch may ask for a thousand in as many segments. */
const MAX_SEGMENT_BYTES = 256 * 1024;

/**
 * Stores the entries of a delivery, of which none is stored yet. Numbers of one stream never overlap from segment to segment: where
 * those of the delivery lie between stored ones, it becomes several, and so does what lies around them; a large one does, too.
 * @param maxSeq the stream's highest number before, undefined for a new one
 */
export function storeEntries(
  core: Core,
  streamId: number,
  deliveryId: number,
  packed: PackedEntries,
  maxSeq: number | undefined,
): void {
  const sql = segmentRows(core.store);
  const isAbove = maxSeq === undefined || (packed.seqs[0] as number) > maxSeq;
  const ends = [...largeCuts(packed), ...(isAbove ? [] : cutsOf(core, streamId, packed.seqs))];
  let firstId = sql.nextId.get() ?? 1;
  let start = 0;
  for (const end of [...new Set(ends), packed.seqs.length].sort((a, b) => a - b)) {
    const { seqs, texts } = start === 0 && end === packed.seqs.length ? packed : slice(packed, start, end);
    const last = seqs[seqs.length - 1] as number;
    sql.insert.run(
      firstId,
      streamId,
      seqs[0] as number,
      last,
      seqs.length,
      deliveryId,
      null,
      null,
      texts.length,
      texts,
    );
    firstId += seqs.length;
    start = end;
  }
}

/** Indexes at which a large delivery is cut. */
function largeCuts({ ends, texts }: PackedEntries): number[] {
  const cuts: number[] = [];
  if (texts.length <= MAX_SEGMENT_BYTES) return cuts;
  let start = 0;
  for (let i = 1; i < ends.length; i++) {
    if ((ends[i] as number) - start <= MAX_SEGMENT_BYTES) continue;
    start = ends[i - 1] as number;
    cuts.push(i);
  }
  return cuts;
}

/** Indexes at which new entries must be split because stored entries lie between them. Stored segments around new ones are split before. */
function cutsOf(core: Core, streamId: number, seqs: PackedEntries["seqs"]): number[] {
  const sql = segmentRows(core.store);
  const starts: number[] = [];
  for (let i = 0; i < seqs.length; i++) if (i === 0 || seqs[i] !== (seqs[i - 1] as number) + 1) starts.push(i);
  partAround(
    core,
    streamId,
    starts.map((i) => seqs[i] as number),
  );
  return starts.filter((i) => {
    if (i === 0) return false;
    const next = sql.nextSeq.get(streamId, seqs[i - 1] as number);
    return next !== undefined && next < (seqs[i] as number);
  });
}

/** @param seqs ascending, none of them stored */
function partAround(core: Core, streamId: number, seqs: readonly number[]): void {
  const sql = segmentRows(core.store);
  for (let i = 0; i < seqs.length; ) {
    const segment = sql.ofStreamFrom.get(streamId, seqs[i] as number);
    if (!segment || segment.lastSeq < (seqs[i] as number)) {
      i++;
      continue;
    }
    const packed = readSegment(core, segment);
    const cuts = new Set<number>();
    for (; i < seqs.length && (seqs[i] as number) <= segment.lastSeq; i++)
      cuts.add(indexOf(packed.seqs, seqs[i] as number));
    const inside = [...cuts].filter((cut) => cut > 0 && cut < packed.seqs.length);
    if (inside.length > 0) part(core, segment, packed, inside);
  }
}

/** Makes several segments of one; ids of entries stay. */
function part(core: Core, segment: SegmentRow, packed: PackedEntries, cuts: readonly number[]): void {
  const sql = segmentRows(core.store);
  sql.remove.run(segment.firstId);
  let start = 0;
  for (const end of [...cuts, packed.seqs.length]) {
    const { seqs, texts } = slice(packed, start, end);
    const at = segment.blockAt === null ? null : segment.blockAt + (packed.ends[start - 1] ?? 0);
    sql.insert.run(
      segment.firstId + start,
      segment.streamId,
      seqs[0] as number,
      seqs[seqs.length - 1] as number,
      seqs.length,
      segment.deliveryId,
      segment.blockId,
      at,
      texts.length,
      segment.blockId === null ? texts : null,
    );
    start = end;
  }
}
