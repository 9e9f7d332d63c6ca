import type { Core } from "../../core.ts";
import { sameDigest, sha256 } from "../../kit/hash.ts";
import { type DeliveryKind, RowsByDelivery } from "../../log/log.ts";
import { type ManifestEntries, rows, type StoredSnapshotRow } from "./rows.ts";
import { manifestDigest, snapshotDigest } from "./store-snapshot.ts";

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
    const digestOf = digester(core);
    return {
      check({ id: deliveryId, teamId, deviceId, repoKey, contentSha256 }) {
        let snapshot: StoredSnapshotRow | undefined;
        for (const row of snapshots.of(deliveryId, 1)) {
          if (snapshot) stray(row);
          else snapshot = row;
        }
        if (!snapshot) return report(deliveryId, "content", "its snapshot is gone");
        const { id, fits } = snapshot;
        const digest = digestOf(snapshot);
        if (!digest || !sameDigest(digest, contentSha256))
          report(deliveryId, "content", `the files of snapshot ${id} are not those that were delivered`);
        if (fits === 0 || snapshot.teamId !== teamId || snapshot.deviceId !== deviceId || snapshot.repoKey !== repoKey)
          report(deliveryId, "owner", `snapshot ${id} is not of its team, device and repository`);
      },
      finish() {
        snapshots.finish();
        for (const { repoKey, currentId, newestId, deliveryId } of sql.currentsAstray.iterate())
          report(
            deliveryId,
            "newest",
            `snapshot ${currentId} is current of "${repoKey}", the newest accepted is ${newestId}`,
          );
        for (const { id, lastVersion, highestVersion, deliveryId } of sql.streamsAstray.iterate())
          report(
            deliveryId,
            "newest",
            `brain stream ${id} says version ${lastVersion}, the highest that it had accepted is ${highestVersion}`,
          );
      },
      close: () => snapshots.close(),
    };
  },
};

/** Gives a snapshot's digest, each file read once; undefined when something of it is gone or altered. */
function digester(core: Core): (snapshot: StoredSnapshotRow) => Buffer | undefined {
  const sound = new Map<number, Buffer | undefined>();
  const blobDigest = (id: number) => {
    if (!sound.has(id)) {
      const blob = rows(core.store).blobById.get(id);
      sound.set(id, blob && sameDigest(sha256(blob.content), blob.sha256) ? blob.sha256 : undefined);
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
