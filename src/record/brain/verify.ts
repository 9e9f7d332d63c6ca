import type { Core } from "../../core.ts";
import { sameDigest, sha256 } from "../../kit/hash.ts";
import { type HeldCheck, HeldRows, type Tell } from "../../log/log.ts";
import { type HeldSnapshotRow, type ManifestEntries, rows } from "./rows.ts";
import { manifestDigest, snapshotDigest } from "./store-snapshot.ts";

const kind = "brain";

/**
 * Compares brain deliveries with snapshots as they are held now: every file's content, whose they are, and that the newest
 * accepted snapshot of a repository is its current one.
 * @param head the newest delivery
 */
export function checkBrain(core: Core, head: number, tell: Tell): HeldCheck {
  const sql = rows(core.store);
  const stray = ({ id, deliveryId }: HeldSnapshotRow) =>
    tell({ deliveryId, kind, problem: "stray", detail: `snapshot ${id} came with no brain delivery` });
  const snapshots = new HeldRows(sql.snapshotsByDelivery.iterate(), head, stray);
  const digestOf = digester(core);
  return {
    check({ id: deliveryId, teamId, deviceId, repoKey, contentSha256 }) {
      const told = (problem: "content" | "owner", detail: string) => tell({ deliveryId, kind, problem, detail });
      let found: HeldSnapshotRow | undefined;
      for (const one of snapshots.of(deliveryId, 1)) {
        if (found) stray(one);
        else found = one;
      }
      if (!found) return told("content", "its snapshot is gone");
      const digest = digestOf(found);
      if (!digest || !sameDigest(digest, contentSha256))
        told("content", `the files of snapshot ${found.id} are not those that were delivered`);
      if (found.fits === 0 || found.teamId !== teamId || found.deviceId !== deviceId || found.repoKey !== repoKey)
        told("owner", `snapshot ${found.id} is not of its team, device and repository`);
    },
    finish() {
      snapshots.finish();
      const newest = (deliveryId: number, detail: string) => tell({ deliveryId, kind, problem: "newest", detail });
      for (const { repoKey, heldId, newestId, deliveryId } of sql.currentsAstray.iterate())
        newest(deliveryId, `snapshot ${heldId} is current of "${repoKey}", the newest accepted is ${newestId}`);
      for (const { id, lastVersion, heldVersion, deliveryId } of sql.streamsAstray.iterate())
        newest(
          deliveryId,
          `brain stream ${id} says version ${lastVersion}, the highest that it had accepted is ${heldVersion}`,
        );
    },
    close: () => snapshots.close(),
  };
}

/** Gives a snapshot's digest, each file read once; undefined when something of it is gone or altered. */
function digester(core: Core): (snapshot: HeldSnapshotRow) => Buffer | undefined {
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
