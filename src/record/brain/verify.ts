import type { Core } from "../../core.ts";
import { sha256 } from "../../kit/hash.ts";
import { type DeliveryKind, deliveryErasure, isAsDelivered, type Report, RowsByDelivery } from "../../log/log.ts";
import { highestWithheld, rangeText, type WithheldRow, withheldByDelivery } from "../withheld/withheld.ts";
import { fileReader } from "./items.ts";
import { rows, type StoredSnapshotRow } from "./rows.ts";
import { manifestDigest } from "./snapshot.ts";
import { snapshotDigest, snapshotTexts } from "./store-snapshot.ts";

type Delivery = Parameters<ReturnType<DeliveryKind["openCheck"]>["check"]>[0];

/**
 * Compares brain deliveries with snapshots as they are stored now: every file's content, whose they are, and that the newest
 * accepted snapshot of a repository is its current one.
 */
export const brainDeliveries: DeliveryKind = {
  kind: "brain",
  openCheck(core, head, report) {
    const sql = rows(core.store);
    const stray = ({ id, deliveryId }: StoredSnapshotRow) =>
      report(deliveryId, "stray", `snapshot ${id} came with no brain delivery`);
    const snapshots = new RowsByDelivery(sql.snapshotsByDelivery.iterate(), head, stray);
    const strayVersion = ({ id, deliveryId }: WithheldRow) =>
      report(deliveryId, "stray", `withheld version ${id} came with no brain delivery`);
    const withheld = new RowsByDelivery(withheldByDelivery(core, "brain"), head, strayVersion);
    const filesOf = fileReader(core);
    const checkSnapshot = (delivery: Delivery) => {
      const { id: deliveryId, teamId, deviceId, repoKey } = delivery;
      const gone = deliveryErasure.isErased(delivery);
      const [snapshot, ...more] = snapshots.of(deliveryId, gone ? 0 : 1);
      more.forEach(stray);
      if (gone) {
        if (snapshot) report(deliveryId, "content", `snapshot ${snapshot.id} is there, though its delivery was erased`);
        return;
      }
      if (!snapshot) return report(deliveryId, "content", "its snapshot is gone");
      const { id, fits, version, accepted, gap } = snapshot;
      const files = filesOf(snapshot) ?? [];
      const texts = new Map(snapshotTexts(files, version, accepted === 1).map((text, i) => [i + 1, text]));
      const digest = () => snapshotDigest(manifestDigest(files), version, accepted === 1);
      const isGap = delivery.flagged === "gap";
      if (!isAsDelivered(core, delivery, texts, digest) || isGap !== (gap === 1))
        report(deliveryId, "content", `snapshot ${id} was altered`);
      const isOwn = fits !== 0 && snapshot.teamId === teamId && snapshot.deviceId === deviceId;
      if (!isOwn || snapshot.repoKey !== repoKey)
        report(deliveryId, "owner", `snapshot ${id} is not of its team, device and repository`);
    };
    const checkWithheld = (delivery: Delivery) => {
      const { id: deliveryId, teamId, deviceId, repoKey } = delivery;
      const versions = [...withheld.of(deliveryId, 1)];
      const texts = versions.map(rangeText);
      const byItem = new Map(texts.map((text, i) => [i + 1, text]));
      if (!isAsDelivered(core, delivery, byItem, () => sha256(texts.join(""))))
        report(deliveryId, "content", "its withheld version is not the one that was delivered");
      const stream = sql.stream.get(deviceId, repoKey);
      for (const { id, streamId, last } of versions)
        if (streamId !== stream?.id || stream.teamId !== teamId)
          report(deliveryId, "owner", `withheld version ${id} is not of its team, device and repository`);
        else if (last > stream.lastVersion)
          report(deliveryId, "newest", `brain stream ${streamId} ends below withheld version ${last}`);
    };
    return {
      check(delivery) {
        if (delivery.captureMode === "off") checkWithheld(delivery);
        else checkSnapshot(delivery);
      },
      finish() {
        snapshots.finish();
        withheld.finish();
        for (const { repoKey, currentId, newestId, deliveryId } of sql.currentsAstray.iterate())
          report(
            deliveryId,
            "newest",
            `snapshot ${currentId} is current of "${repoKey}", the newest accepted is ${newestId}`,
          );
        checkBlocks(core, report);
        checkStreams(core, report);
      },
      close() {
        snapshots.close();
        withheld.close();
      },
    };
  },
};

/** Compares blocks with the files that lie in them. */
function checkBlocks(core: Core, report: Report): void {
  const sql = rows(core.store);
  for (const id of sql.blocksAstray.all())
    report(0, "stray", `block ${id} of files holds none that is stored, or another team's`);
  for (const id of sql.doubled.iterate()) report(0, "stray", `content ${id} of files has a text that nothing reads`);
}

/** Streams that end elsewhere than at the highest version that they had accepted. */
function checkStreams(core: Core, report: Report): void {
  for (const { id, lastVersion, highestVersion, deliveryId, deviceId, repoKey } of rows(
    core.store,
  ).streamsAstray.all()) {
    // Numbers of what was erased are not given again.
    if (lastVersion > (highestVersion ?? 0) && deliveryErasure.hasErased(core, "brain", deviceId, repoKey)) continue;
    if (highestWithheld(core, "brain", id)?.last === lastVersion && lastVersion > (highestVersion ?? 0)) continue;
    report(
      deliveryId,
      "newest",
      `brain stream ${id} says version ${lastVersion}, the highest that it had accepted is ${highestVersion}`,
    );
  }
}
