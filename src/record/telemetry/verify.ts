import { sameDigest, sha256 } from "../../kit/hash.ts";
import { type DeliveryKind, RowsByDelivery } from "../../log/log.ts";
import { rows, type StoredEntryRow } from "./rows.ts";
import { entryText } from "./rules.ts";

/**
 * Compares telemetry deliveries with entries and evidence as they are stored now: their content, that nothing was added, and
 * that their stream is that of the delivery's device and repository.
 */
export const telemetryDeliveries: DeliveryKind = {
  kind: "telemetry",
  openCheck(core, head, report) {
    const sql = rows(core.store);
    const stray =
      (what: string) =>
      ({ id, deliveryId }: StoredEntryRow) =>
        report(deliveryId, "stray", `${what} ${id} came with no telemetry delivery`);
    const entries = new RowsByDelivery(sql.entriesByDelivery.iterate(), head, stray("entry"));
    const evidence = new RowsByDelivery(sql.conflictsByDelivery.iterate(), head, stray("conflicting entry"));
    return {
      check({ id: deliveryId, teamId, deviceId, repoKey, items, contentSha256 }) {
        const stream = sql.stream.get(deviceId, repoKey);
        const own = stream?.teamId === teamId ? stream.id : undefined;
        const contradicting = [...evidence.of(deliveryId, 0)];
        const stored = [...entries.of(deliveryId, items - contradicting.length), ...contradicting];
        const foreign = stored.find(({ streamId }) => streamId !== own);
        if (!sameDigest(sha256(stored.map(entryText).join("")), contentSha256))
          report(deliveryId, "content", "its entries are not those that were delivered");
        if (foreign)
          report(
            deliveryId,
            "owner",
            `entry ${foreign.id} of it is in stream ${foreign.streamId}, which is not of its team, device and repository`,
          );
      },
      finish() {
        entries.finish();
        evidence.finish();
        for (const { id, maxSeq, storedSeq, deliveryId } of sql.streamsAstray.iterate())
          report(deliveryId, "newest", `stream ${id} says ${maxSeq} and holds entries to ${storedSeq}`);
      },
      close() {
        entries.close();
        evidence.close();
      },
    };
  },
};
