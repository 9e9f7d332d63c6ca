import { sha256 } from "../../kit/hash.ts";
import { type DeliveryKind, isAsDelivered, RowsByDelivery } from "../../log/log.ts";
import { highestWithheld, rangeText, withheldByDelivery } from "../withheld/withheld.ts";
import { rows, type StoredEntryRow } from "./rows.ts";
import { entryText } from "./rules.ts";

/**
 * Compares telemetry deliveries with entries, evidence and withheld numbers as they are stored now: their content, that nothing was
 * added, and that their stream is that of the delivery's device and repository.
 */
export const telemetryDeliveries: DeliveryKind = {
  kind: "telemetry",
  openCheck(core, head, report) {
    const sql = rows(core.store);
    const stray =
      (what: string) =>
      ({ id, deliveryId }: Pick<StoredEntryRow, "id" | "deliveryId">) =>
        report(deliveryId, "stray", `${what} ${id} came with no telemetry delivery`);
    const entries = new RowsByDelivery(sql.entriesByDelivery.iterate(), head, stray("entry"));
    const evidence = new RowsByDelivery(sql.conflictsByDelivery.iterate(), head, stray("conflicting entry"));
    const withheld = new RowsByDelivery(withheldByDelivery(core, "telemetry"), head, stray("withheld range"));
    return {
      check(delivery) {
        const { id: deliveryId, teamId, deviceId, repoKey, items, captureMode } = delivery;
        const stream = sql.stream.get(deviceId, repoKey);
        const own = stream?.teamId === teamId ? stream.id : undefined;
        const contradicting = [...evidence.of(deliveryId, 0)];
        const stored = [...entries.of(deliveryId, items - contradicting.length), ...contradicting];
        const ranges = [...withheld.of(deliveryId, captureMode === "off" ? 1 : 0)];
        const foreign = [...stored, ...ranges].find(({ streamId }) => streamId !== own);
        const texts = [...stored.map(entryText), ...ranges.map(rangeText)];
        const byItem = new Map(texts.map((text, i) => [i + 1, text]));
        if (!isAsDelivered(core, delivery, byItem, () => sha256(texts.join(""))))
          report(deliveryId, "content", "its entries are not those that were delivered");
        const beyond = ranges.find(({ last }) => last > (stream?.maxSeq ?? 0));
        if (beyond)
          report(deliveryId, "newest", `stream ${beyond.streamId} ends below what it withholds to ${beyond.last}`);
        if (foreign)
          report(
            deliveryId,
            "owner",
            `${"first" in foreign ? "withheld range" : "entry"} ${foreign.id} of it is in stream ${foreign.streamId}, which is not of its team, device and repository`,
          );
      },
      finish() {
        entries.finish();
        evidence.finish();
        withheld.finish();
        for (const { id, maxSeq, storedSeq, deliveryId } of sql.streamsAstray.all()) {
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
