import type { Core } from "../../core.ts";
import { type EraseStep, MAX_ERASED_ROWS, portions } from "../../kit/erase-steps.ts";
import { cooperative } from "../../kit/yield.ts";
import { deliveryErasure, findDelivery, type Portion } from "../../log/log.ts";
import { type ErasableSnapshot, eraseRows } from "./erase-rows.ts";
import { type ManifestEntries, rows } from "./rows.ts";

/** The snapshots of a portion. @param keepCurrent leave out what is the current brain of a repository */
function snapshotsOfPortion(core: Core, portion: Omit<Portion, "erasureId">, keepCurrent: boolean): ErasableSnapshot[] {
  const { deviceId, repoKey } = portion;
  return eraseRows(core.store)
    .snapshots.all({ deviceId, repoKey })
    .filter(
      ({ deliveryId, isCurrent }) =>
        !(keepCurrent && isCurrent) && deliveryErasure.isWithin(findDelivery(core, deliveryId), portion),
    );
}

/** The repositories that a device ever sent a brain of. @param repoKey that one alone; null for all */
const repositoriesOf = (core: Core, deviceId: string, repoKey: string | null): string[] =>
  eraseRows(core.store).repositories.all({ deviceId, repoKey });

/** Erases snapshots; the newest accepted one that is left of a repository is its current brain then. Their files are left. */
function* eraseSnapshots(core: Core, snapshots: readonly ErasableSnapshot[], erasureId: string): Generator<EraseStep> {
  const sql = eraseRows(core.store);
  for (const some of portions(snapshots, MAX_ERASED_ROWS / 2))
    yield () => {
      let removed = 0;
      for (const { id, teamId, repoKey, deliveryId } of some) {
        const wasCurrent = sql.isCurrent.get(id) === 1;
        if (wasCurrent) sql.dropCurrent.run(id);
        removed += sql.dropSnapshot.run(id).changes;
        deliveryErasure.markErased(core, deliveryId, erasureId);
        const newest = wasCurrent ? sql.newestAccepted.get(teamId, repoKey) : undefined;
        if (newest !== undefined) rows(core.store).setCurrent.run(teamId, repoKey, newest);
      }
      return { snapshots: removed };
    };
}

/**
 * Erases the lists and contents of files that no snapshot of a team holds any more. What came meanwhile is looked at again in the
 * transaction that removes.
 */
async function* eraseUnusedFiles(core: Core, teamId: string): AsyncGenerator<EraseStep> {
  const sql = eraseRows(core.store);
  const seen = sql.lastSnapshot.get() ?? 0;
  const used = new Set(sql.manifestsInUse.all(teamId, 0));
  for (const ids of portions(sql.manifests.all(teamId, 0).filter((id) => !used.has(id))))
    yield () => {
      const usedSince = new Set(sql.manifestsInUse.all(teamId, seen));
      for (const id of ids) if (!usedSince.has(id)) sql.dropManifest.run(id);
      return {};
    };
  const yieldNow = cooperative(core.clock);
  const last = sql.lastManifest.get() ?? 0;
  const filled = new Set<number>();
  const note = (manifestId: number) => {
    for (const [, blobId] of JSON.parse(sql.entries.get(manifestId) ?? "[]") as ManifestEntries) filled.add(blobId);
  };
  for (const manifestId of sql.manifests.all(teamId, 0)) {
    note(manifestId);
    await yieldNow();
  }
  for (const ids of portions(sql.blobs.all(teamId).filter((id) => !filled.has(id))))
    yield () => {
      for (const manifestId of sql.manifests.all(teamId, last)) note(manifestId);
      return { files: ids.reduce((sum, id) => (filled.has(id) ? sum : sum + sql.dropBlob.run(id).changes), 0) };
    };
}

/** Erasing snapshots of brains. */
export const brainErasure = { repositoriesOf, snapshotsOfPortion, eraseSnapshots, eraseUnusedFiles };
