import type { Core } from "../../core.ts";
import { sameDigest, sha256 } from "../../kit/hash.ts";
import { type DeliveryFacts, type DeliveryKind, deliveryErasure, deliveryFinder, type Report } from "../../log/log.ts";
import { type OwnerRow, rows } from "./rows.ts";

/**
 * Compares sessions, spans and labels with the deliveries that they name as the last that changed them. Sessions grow, so their
 * content has nothing that it could be compared with; that of labels has.
 */
export const traceDeliveries: DeliveryKind = {
  kind: "traces",
  openCheck(core, _head, report) {
    /** By device, the last that it delivered: nothing can have replaced what came with that. */
    const newest = new Map<string, number>();
    return {
      check(delivery) {
        const { id, deviceId } = delivery;
        // Of what came before it, it cannot be told what is to be there either.
        if (deliveryErasure.isErased(delivery)) newest.delete(deviceId);
        else newest.set(deviceId, id);
      },
      finish() {
        const gone = new Set(newest.values());
        checkOwners(core, report, (deliveryId) => gone.delete(deliveryId));
        for (const { id, deliveryId, document, contentSha256 } of rows(core.store).labelContents.iterate())
          if (!sameDigest(sha256(document), contentSha256))
            report(deliveryId, "content", `label ${id} is not what was delivered`);
        for (const deliveryId of gone)
          report(deliveryId, "content", "nothing is held of the last that its device delivered");
      },
      close() {},
    };
  },
};

/** Looks at every row, and calls with the delivery of each. */
function checkOwners(core: Core, report: Report, onDelivery: (deliveryId: number) => void): void {
  const sql = rows(core.store);
  const deliveryOf = deliveryFinder(core);
  const look = (
    what: string,
    list: Iterable<OwnerRow>,
    isOfRepo: (delivery: DeliveryFacts, row: OwnerRow) => boolean,
  ) => {
    for (const row of list) {
      const { id, deliveryId } = row;
      onDelivery(deliveryId);
      const delivery = deliveryOf(deliveryId);
      if (delivery?.kind !== "traces" || row.teamId === null)
        report(deliveryId, "stray", `${what} ${id} came with no trace delivery`);
      else if (delivery.teamId !== row.teamId || delivery.deviceId !== row.deviceId || !isOfRepo(delivery, row))
        report(deliveryId, "owner", `${what} ${id} is not of its delivery's team, device and repository`);
    }
  };
  // A batch that names no repository leaves sessions where they were; their spans follow them.
  look("session", sql.sessionOwners.iterate(), (delivery, { repoKey }) => ["", repoKey].includes(delivery.repoKey));
  look("span", sql.spanOwners.iterate(), () => true);
  look("label", sql.labelOwners.iterate(), (delivery, { repoKey }) => delivery.repoKey === repoKey);
}
