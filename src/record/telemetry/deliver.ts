import type { Intake } from "../intake/intake.ts";
import { type Appended, appendBatch, type Batch, withholdBatch } from "./append.ts";
import { slice } from "./packed.ts";
import { rows } from "./rows.ts";
import { MAX_BLOCK_BYTES } from "./seal.ts";
import { segmentRows } from "./segment-rows.ts";

/** How much of the stored stream one transaction may read, because all others wait for it: segments, and bytes with unpacked blocks. */
const MAX_READ = { segments: 250, bytes: 6 * 1024 * 1024 };

/**
 * Stores a batch: at once, as it nearly always is, or, where its numbers are strewn over all that is stored of its stream, in parts that
 * are deliveries of their own. Whoever sends it again because the server stopped halfway finds that what was stored is not stored twice.
 * @param isWithheld nothing of it may be kept but its numbers
 */
export async function deliverBatch(intake: Intake, batch: Batch, isWithheld: boolean): Promise<Appended> {
  const { seqs } = batch.packed;
  const take = (part: Batch, now: number) =>
    isWithheld ? withholdBatch(intake, part.packed.seqs, now) : appendBatch(intake, part, now);
  // Within the transaction this costs next to nothing, and outside of it as much as a tenth of a small delivery.
  const whole = await intake.store((now) => (isAbove(intake, seqs) ? take(batch, now) : undefined));
  if (whole) return whole;
  const ends = [...cutsOf(intake, seqs), seqs.length];
  let all: Appended | undefined;
  for (const [i, end] of ends.entries()) {
    const start = ends[i - 1] ?? 0;
    const isWhole = ends.length === 1;
    const packed = isWhole ? batch.packed : slice(batch.packed, start, end);
    // Only the first part says what concerns the batch as a whole.
    const part = isWhole ? batch : { ...batch, packed, content: undefined, redacted: i === 0 ? batch.redacted : 0 };
    const appended = await intake.store((now) => take(part, now));
    if (i === 0) intake.withheld = 0;
    all = all ? joined(all, appended) : appended;
  }
  return all as Appended;
}

/** Whether a batch goes on from the highest number of its stream, so that nothing of what is stored is read. */
function isAbove({ core, device, repoKey }: Intake, [first]: Batch["packed"]["seqs"]): boolean {
  const stream = rows(core.store).stream.get(device.deviceId, repoKey);
  return !stream || first === undefined || first > stream.maxSeq;
}

/** Where a batch is cut, as indexes. @param seqs ascending */
function cutsOf({ core, device, repoKey }: Intake, seqs: Batch["packed"]["seqs"]): number[] {
  const stream = rows(core.store).stream.get(device.deviceId, repoKey);
  const cuts: number[] = [];
  const read = { segments: 0, bytes: 0 };
  let [lastSeq, block]: [number, number | null] = [-1, null];
  for (let i = 0; stream && i < seqs.length; i++) {
    const seq = seqs[i] as number;
    if (seq > stream.maxSeq) break;
    if (seq <= lastSeq) continue;
    const found = segmentRows(core.store).rangeFrom.get(stream.id, seq);
    if (!found || found.lastSeq < seq) continue;
    lastSeq = found.lastSeq;
    // A block is unpacked whole, for whichever of its segments.
    const bytes = found.bytes + (found.blockId !== null && found.blockId !== block ? MAX_BLOCK_BYTES : 0);
    block = found.blockId;
    if (read.segments === MAX_READ.segments || (read.segments > 0 && read.bytes + bytes > MAX_READ.bytes)) {
      cuts.push(i);
      Object.assign(read, { segments: 0, bytes: 0 });
    }
    read.segments++;
    read.bytes += bytes;
  }
  return cuts;
}

function joined(before: Appended, after: Appended): Appended {
  const flags = [before.flagged, after.flagged];
  return {
    accepted: before.accepted + after.accepted,
    maxSeq: after.maxSeq,
    flagged: flags.includes("rollback") ? "rollback" : (flags.find((flag) => flag !== null) ?? null),
  };
}
