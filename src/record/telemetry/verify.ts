import { sha256 } from "../../kit/hash.ts";
import { type DeliveryKind, isAsDelivered, RowsByDelivery } from "../../log/log.ts";
import { highestWithheld, rangeText, withheldByDelivery } from "../withheld/withheld.ts";
import { type PackedEntries, scan, textsIn } from "./packed.ts";
import { rows } from "./rows.ts";
import { entryText } from "./rules.ts";
import { type SegmentRow, segmentRows } from "./segment-rows.ts";
import { textsOf } from "./segments.ts";

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
    /** Reading goes by what a segment says of its texts. */
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
        const apart = [...contradicting.map(entryText), ...ranges.map(rangeText)];
        const texts = [...stored.flatMap(textsIn), ...apart.map((text) => Buffer.from(text))];
        const byItem = new Map(texts.map((text, i) => [i + 1, text]));
        if (!isWhole || !isAsDelivered(core, delivery, byItem, () => sha256(Buffer.concat(texts))))
          report(deliveryId, "content", "its entries are not those that were delivered");
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

function describes({ firstSeq, lastSeq, entries, bytes }: SegmentRow, { seqs, ends, texts }: PackedEntries): boolean {
  return (
    seqs.length === entries &&
    texts.length === bytes &&
    ends[entries - 1] === bytes &&
    seqs[0] === firstSeq &&
    seqs[entries - 1] === lastSeq
  );
}
