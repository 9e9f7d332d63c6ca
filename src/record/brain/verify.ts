import type { Core } from "../../core.ts";
import { sameDigest, sha256 } from "../../kit/hash.ts";
import { type DeliveryKind, deliveryErasure, RowsByDelivery } from "../../log/log.ts";
import { highestWithheld, rangeText, type WithheldRow, withheldByDelivery } from "../withheld/withheld.ts";
import { type ManifestEntries, rows, type StoredSnapshotRow } from "./rows.ts";
import { manifestDigest, snapshotDigest, withheldDigest } from "./store-snapshot.ts";

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
    const digestOf = digester(core);
    const checkSnapshot = (delivery: Delivery) => {
      const { id: deliveryId, teamId, deviceId, repoKey, contentSha256 } = delivery;
      const gone = deliveryErasure.isErased(delivery);
      const [snapshot, ...more] = snapshots.of(deliveryId, gone ? 0 : 1);
      more.forEach(stray);
      if (gone) {
        if (snapshot) report(deliveryId, "content", `snapshot ${snapshot.id} is there, though its delivery was erased`);
        return;
      }
      if (!snapshot) return report(deliveryId, "content", "its snapshot is gone");
      const { id, fits } = snapshot;
      const digest = digestOf(snapshot);
      if (!digest || !sameDigest(digest, contentSha256))
        report(deliveryId, "content", `the files of snapshot ${id} are not those that were delivered`);
      if (fits === 0 || snapshot.teamId !== teamId || snapshot.deviceId !== deviceId || snapshot.repoKey !== repoKey)
        report(deliveryId, "owner", `snapshot ${id} is not of its team, device and repository`);
    };
    const checkWithheld = ({ id: deliveryId, teamId, deviceId, repoKey, contentSha256 }: Delivery) => {
      const versions = [...withheld.of(deliveryId, 1)];
      if (!sameDigest(sha256(versions.map(rangeText).join("")), contentSha256))
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
        for (const { id, lastVersion, highestVersion, deliveryId, deviceId, repoKey } of sql.streamsAstray.all()) {
          // Numbers of what was erased are not given again.
          if (lastVersion > (highestVersion ?? 0) && deliveryErasure.hasErased(core, "brain", deviceId, repoKey))
            continue;
          if (highestWithheld(core, "brain", id)?.last === lastVersion && lastVersion > (highestVersion ?? 0)) continue;
          report(
            deliveryId,
            "newest",
            `brain stream ${id} says version ${lastVersion}, the highest that it had accepted is ${highestVersion}`,
          );
        }
      },
      close() {
        snapshots.close();
        withheld.close();
      },
    };
  },
};

/** Gives a snapshot's digest, each file read once; undefined when something of it is gone or altered. */
function digester(core: Core): (snapshot: StoredSnapshotRow) => Buffer | undefined {
  const sound = new Map<number, Buffer | undefined>();
  const blobDigest = (id: number) => {
    if (!sound.has(id)) {
      const blob = rows(core.store).blobById.get(id);
      sound.set(id, blob && sameDigest(digestOfBlob(blob), blob.sha256) ? blob.sha256 : undefined);
    }
    return sound.get(id);
  };
  return ({ entries, version, accepted }) => {
    if (entries === null) return undefined;
    const files: { path: string; sha256: Buffer }[] = [];
    for (const [path, blobId] of JSON.parse(entries) as ManifestEntries) {
      const digest = blobDigest(blobId);
      if (!digest) return undefined;
      files.push({ path, sha256: digest });
    }
    return snapshotDigest(manifestDigest(files), version, accepted === 1);
  };
}

type Blob = NonNullable<ReturnType<ReturnType<typeof rows>["blobById"]["get"]>>;

/** What a blob is addressed by, as it is stored; of a withheld one that holds content after all nothing that fits. */
function digestOfBlob({ content, bytes, withheldSha256 }: Blob): Buffer {
  return withheldSha256 && content === "" ? withheldDigest(withheldSha256, bytes) : sha256(content);
}
