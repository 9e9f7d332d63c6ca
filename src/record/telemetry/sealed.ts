import type { Core } from "../../core.ts";
import { deliveryFinder } from "../../log/log.ts";
import { type PlacedSegment, type StreamName, sealedRows } from "./sealed-rows.ts";
import { segmentRows } from "./segment-rows.ts";

/** Texts of one stream, as they are stored, with what is known of them. */
export interface SealedTexts extends StreamName {
  /** Compressed with zstd where they lie in a block. */
  readonly content: Buffer;
  readonly isCompressed: boolean;
  readonly parts: readonly SealedPart[];
}

/** Entries of one delivery, `bytes` of the texts from `at` on; numbers follow each other from `firstId` on. */
interface SealedPart {
  readonly firstId: number;
  readonly at: number;
  readonly bytes: number;
  /** When the delivery came, in milliseconds since the epoch. */
  readonly receivedAt: number;
}

/** The next block after a number; undefined where there is none. */
const next = (core: Core, after: number): number | undefined => sealedRows(core.store).nextBlock.get(after);

/** The highest number of a block; 0 before the first. */
const last = (core: Core): number => sealedRows(core.store).lastBlock.get() ?? 0;

/** The contents of a block; undefined where it is gone. */
function read(core: Core, blockId: number): SealedTexts | undefined {
  const stream = sealedRows(core.store).streamOfBlock.get(blockId);
  const content = segmentRows(core.store).block.get(blockId);
  if (!stream || !content) return undefined;
  const parts = partsOf(core, sealedRows(core.store).segmentsOfBlock.all(blockId));
  return { ...stream, content, isCompressed: true, parts };
}

/** Texts of a team that lie in no block yet, in bounded parts. */
function* open(core: Core, teamId: string): Generator<SealedTexts> {
  const { streamsOfTeam, openSegments } = sealedRows(core.store);
  for (const stream of streamsOfTeam.all(teamId))
    for (let after = -1; ; ) {
      const segments = openSegments.all(stream.streamId, after);
      const last = segments.at(-1);
      if (!last) break;
      after = last.firstSeq;
      const texts = segments.map((segment) => segment.texts ?? Buffer.alloc(0));
      let at = 0;
      const placed = segments.map(({ firstId, deliveryId, bytes }) => {
        const segment = { firstId, deliveryId, bytes, at };
        at += bytes;
        return segment;
      });
      yield { ...stream, content: Buffer.concat(texts), isCompressed: false, parts: partsOf(core, placed) };
    }
}

function partsOf(core: Core, segments: readonly PlacedSegment[]): SealedPart[] {
  const deliveryOf = deliveryFinder(core);
  return segments.flatMap(({ firstId, at, bytes, deliveryId }) => {
    const receivedAt = deliveryOf(deliveryId)?.receivedAt;
    return receivedAt === undefined ? [] : [{ firstId, at, bytes, receivedAt }];
  });
}

/** The blocks of sealed entries, for copies of them elsewhere: what is under a number never changes, and no number is given twice. */
export const sealedBlocks = { next, last, read, open };
