import type { Core } from "../../core.ts";
import { sha256 } from "../../kit/hash.ts";
import { type DeliveryKind, isAsDelivered, RowsByDelivery } from "../../log/log.ts";
import { highestWithheld, rangeText, type WithheldRow, withheldByDelivery } from "../withheld/withheld.ts";
import { isErasedText, type PackedEntries, scan, textsIn } from "./packed.ts";
import { rows, type StoredConflictRow } from "./rows.ts";
import { entryText } from "./rules.ts";
import { type SegmentRow, segmentRows } from "./segment-rows.ts";
import { textsOf } from "./segments.ts";

type Delivery = Parameters<ReturnType<DeliveryKind["openCheck"]>["check"]>[0];

/**
 * Compares telemetry deliveries with entries, evidence and withheld numbers as they are stored now: their content, that nothing was
 * added, and that their stream is that of the delivery's device and repository.
 */
export const telemetryDeliveries: DeliveryKind = {
  kind: "telemetry",
  openCheck(core, head, report) {
    const sql = rows(core.store);
    const segmentSql = segmentRows(core.store);
    const stray =
      (what: string) =>
      ({ id, deliveryId }: { readonly id: number; readonly deliveryId: number }) =>
        report(deliveryId, "stray", `${what} ${id} came with no telemetry delivery`);
    const entries = new RowsByDelivery(segmentSql.all.iterate(), head, (segment) =>
      stray("entry")({ ...segment, id: segment.firstId }),
    );
    const evidence = new RowsByDelivery(sql.conflictsByDelivery.iterate(), head, stray("conflicting entry"));
    const withheld = new RowsByDelivery(withheldByDelivery(core, "telemetry"), head, stray("withheld range"));
    let lastId = 0;
    /** Whether a segment says the truth about its texts, because reading relies on that. */
    const isAsItSays = (segment: SegmentRow, packed: PackedEntries) => {
      const isApart = segment.firstId > lastId;
      lastId = segment.firstId + segment.entries - 1;
      return isApart && describes(segment, packed);
    };
    return {
      check(delivery) {
        const { id: deliveryId, teamId, deviceId, repoKey, items, captureMode } = delivery;
        const stream = sql.stream.get(deviceId, repoKey);
        const own = stream?.teamId === teamId ? stream.id : undefined;
        const contradicting = [...evidence.of(deliveryId, 0)];
        const segments = [...entries.of(deliveryId, items - contradicting.length)];
        const ranges = [...withheld.of(deliveryId, captureMode === "off" ? 1 : 0)];
        const stored = segments.map((segment) => scan(textsOf(core, segment)));
        const isWhole = segments.every((segment, i) => isAsItSays(segment, stored[i] as PackedEntries));
        const texts = textsByItem(stored, contradicting, ranges);
        const wrong = isWhole ? contentFault(core, delivery, texts, ranges.length) : "a segment is not what it says";
        if (wrong) report(deliveryId, "content", wrong);
        const beyond = ranges.find(({ last }) => last > (stream?.maxSeq ?? 0));
        if (beyond)
          report(deliveryId, "newest", `stream ${beyond.streamId} ends below what it withholds to ${beyond.last}`);
        const foreign = [...segments, ...contradicting, ...ranges].find(({ streamId }) => streamId !== own);
        if (foreign)
          report(
            deliveryId,
            "owner",
            `${"first" in foreign ? "withheld range" : "entry"} ${"firstId" in foreign ? foreign.firstId : foreign.id} of it is in stream ${foreign.streamId}, which is not of its team, device and repository`,
          );
      },
      finish() {
        entries.finish();
        evidence.finish();
        withheld.finish();
        for (const { deliveryId, blockId, streamId } of segmentSql.misplaced.all())
          report(deliveryId, "owner", `block ${blockId} of it says that it is of stream ${streamId}`);
        for (const { firstId, deliveryId } of segmentSql.doubled.iterate())
          report(deliveryId, "stray", `the segment of entry ${firstId} has texts beside those in its block`);
        for (const id of segmentSql.unused.all())
          report(0, "stray", `block ${id} of entries holds none that is stored`);
        for (const { id, maxSeq, storedSeq, deliveryId } of segmentSql.streamsAstray.all()) {
          const last = Math.max(storedSeq, highestWithheld(core, "telemetry", id)?.last ?? 0);
          if (last !== maxSeq) report(deliveryId, "newest", `stream ${id} says ${maxSeq} and holds entries to ${last}`);
        }
      },
      close() {
        entries.close();
        evidence.close();
        withheld.close();
      },
    };
  },
};

/** The texts of a delivery's items by their places; erased ones keep theirs. */
function textsByItem(
  stored: readonly PackedEntries[],
  contradicting: readonly StoredConflictRow[],
  ranges: readonly WithheldRow[],
): Map<number, Buffer> {
  const texts = new Map<number, Buffer>();
  let item = 0;
  for (const text of stored.flatMap(textsIn)) {
    item++;
    if (!isErasedText(text)) texts.set(item, text);
  }
  for (const row of contradicting) texts.set(row.item ?? ++item, Buffer.from(entryText(row)));
  for (const range of ranges) texts.set(++item, Buffer.from(rangeText(range)));
  return texts;
}

/** What is wrong with the content of a delivery; undefined where it is what was delivered, without what was erased. */
function contentFault(
  core: Core,
  delivery: Delivery,
  texts: ReadonlyMap<number, Buffer>,
  ranges: number,
): string | undefined {
  const { items, erasedItems, chainSha256 } = delivery;
  const left = texts.size - ranges;
  if (erasedItems > 0 && left !== items - erasedItems)
    return `${left} of its entries are there, and ${items - erasedItems} were not erased`;
  // A digest is of all that a delivery brought: with erased entries the rest can only be counted.
  if (erasedItems > 0 && (chainSha256 || left === 0)) return undefined;
  return isAsDelivered(core, delivery, texts, () => sha256(Buffer.concat([...texts.values()])))
    ? undefined
    : "its entries are not those that were delivered";
}

function describes({ firstSeq, lastSeq, entries, bytes }: SegmentRow, { seqs, ends, texts }: PackedEntries): boolean {
  return (
    seqs.length === entries &&
    texts.length === bytes &&
    ends[entries - 1] === bytes &&
    seqs[0] === firstSeq &&
    seqs[entries - 1] === lastSeq
  );
}
