import type { Core } from "../core.ts";
import { sameDigest, sha256 } from "../kit/hash.ts";
import { type ManifestEntries, rows } from "./rows.ts";
import { manifestDigest, snapshotDigest } from "./store-snapshot.ts";

/**
 * Recomputes the content digests of brain deliveries from the files as they are stored now; each file is read once.
 * @returns a function that takes a delivery's id and gives its digest, or undefined when its snapshot is gone or a file was altered
 */
export function brainDigest(core: Core): (deliveryId: number) => Buffer | undefined {
  const snapshots = new Map(
    rows(core.store)
      .snapshotsByDelivery.all()
      .map((row) => [row.deliveryId, row]),
  );
  const sound = new Map<number, Buffer | undefined>();
  const blobDigest = (id: number) => {
    if (!sound.has(id)) {
      const blob = rows(core.store).blobById.get(id);
      sound.set(id, blob && sameDigest(sha256(blob.content), blob.sha256) ? blob.sha256 : undefined);
    }
    return sound.get(id);
  };
  return (deliveryId) => {
    const snapshot = snapshots.get(deliveryId);
    if (!snapshot) return undefined;
    const files: { path: string; sha256: Buffer }[] = [];
    for (const [path, blobId] of JSON.parse(snapshot.entries) as ManifestEntries) {
      const digest = blobDigest(blobId);
      if (!digest) return undefined;
      files.push({ path, sha256: digest });
    }
    return snapshotDigest(manifestDigest(files), snapshot.version, snapshot.accepted === 1);
  };
}
