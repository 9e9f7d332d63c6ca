import { type Core, slot } from "../../core.ts";
import { compressBlock } from "../../kit/blocks.ts";
import { HOUR_MS, SECOND_MS } from "../../kit/clock.ts";
import type { Job } from "../../platform/jobs/jobs.ts";
import { type SegmentRow, segmentRows } from "./segment-rows.ts";

/** What a block holds at most, unless one segment alone is larger. */
const MAX_ENTRIES = 1_000;
export const MAX_BLOCK_BYTES = 1024 * 1024;
/** Blocks that are made before the job pauses, at most: stopping the server waits for it. */
const MAX_BLOCKS = 20;
const MAX_STREAMS = 500;

/** The stream that was looked at last. */
const turn = slot(() => ({ streamId: 0 }));

/**
 * Moves the texts of segments into compressed blocks: of a stream that goes on as many as fill a block; of one that has been quiet for
 * long, all. One block a transaction; compression runs on a thread of its own.
 */
export const sealJob: Job = {
  name: "telemetry.seal",
  everyMs: 15 * SECOND_MS,
  async run(core) {
    await seal(core, MAX_BLOCKS);
  },
};

/** @returns how many blocks were made; fewer than asked for where there is no more to do, or only much later in the order of streams */
export async function seal(core: Core, maxBlocks: number): Promise<number> {
  const sql = segmentRows(core.store);
  const at = turn(core);
  let blocks = 0;
  for (let looked = 0; looked < MAX_STREAMS && blocks < maxBlocks; looked++) {
    const stream = sql.unsealedStream.get(at.streamId);
    if (!stream) {
      at.streamId = 0;
      break;
    }
    // Quiet is also a stream that was updated by a clock that was ahead.
    const isQuiet = Math.abs(core.clock.now() - stream.updatedAt) >= core.config.sealAfterHours * HOUR_MS;
    // The next turn takes another stream, or goes on with this one where it is not done.
    at.streamId = stream.streamId;
    while (blocks < maxBlocks && (await sealBlock(core, stream.streamId, isQuiet))) blocks++;
    if (blocks === maxBlocks) at.streamId = stream.streamId - 1;
  }
  return blocks;
}

/** @returns whether a block was made */
async function sealBlock(core: Core, streamId: number, isQuiet: boolean): Promise<boolean> {
  const segments = nextBlock(core, streamId, isQuiet);
  if (segments.length === 0) return false;
  const texts = Buffer.concat(segments.map((segment) => segment.texts as Buffer));
  const content = await compressBlock(texts);
  return core.store.write(() => {
    const sql = segmentRows(core.store);
    // An entry that came late may have split a segment meanwhile.
    if (!segments.every(({ firstId, texts }) => sql.segment.get(firstId)?.texts?.equals(texts as Buffer))) return false;
    const id = Number(sql.insertBlock.run(streamId, content).lastInsertRowid);
    if (!sql.block.get(id)?.equals(content)) throw new Error(`block ${id} is not what was stored`);
    let blockAt = 0;
    for (const { firstId, firstSeq, lastSeq, entries, deliveryId, bytes } of segments) {
      // Removed and inserted: after an update SQLite leaves the page as empty as it became.
      sql.remove.run(firstId);
      sql.insert.run(firstId, streamId, firstSeq, lastSeq, entries, deliveryId, id, blockAt, bytes, null);
      blockAt += bytes;
    }
    return true;
  });
}

/** The oldest segments that are not sealed, as many as fit; none while more may come to fill the block. */
function nextBlock(core: Core, streamId: number, isQuiet: boolean): SegmentRow[] {
  const sql = segmentRows(core.store);
  const chosen: number[] = [];
  let isFull = false;
  let entries = 0;
  let bytes = 0;
  for (const segment of sql.unsealed.iterate(streamId)) {
    entries += segment.entries;
    bytes += segment.bytes;
    const isTooMuch = chosen.length > 0 && (entries > MAX_ENTRIES || bytes > MAX_BLOCK_BYTES);
    if (!isTooMuch) chosen.push(segment.firstId);
    isFull = entries >= MAX_ENTRIES || bytes >= MAX_BLOCK_BYTES;
    if (isFull) break;
  }
  return isFull || isQuiet ? chosen.map((firstId) => sql.segment.get(firstId) as SegmentRow) : [];
}
