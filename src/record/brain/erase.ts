import type { Core } from "../../core.ts";
import { type EraseStep, MAX_ERASED_ROWS, portions, stretches } from "../../kit/erase-steps.ts";
import { cooperative } from "../../kit/yield.ts";
import { deliveryErasure, type Portion } from "../../log/log.ts";
import { browseRows } from "./browse-rows.ts";
import { removeContents } from "./contents.ts";
import { type Digested, type ErasableSnapshot, eraseRows } from "./erase-rows.ts";
import { type ManifestEntries, rows } from "./rows.ts";

/**
 * The snapshots of a portion. Yielded in stretches, so that others get their turn. @param keepCurrent leave out what is the current brain
 * of a repository
 */
function* snapshotsOfPortion(
  core: Core,
  portion: Omit<Portion, "erasureId">,
  keepCurrent: boolean,
): Generator<readonly ErasableSnapshot[]> {
  const sql = eraseRows(core.store);
  for (const { id: streamId } of sql.streams.all({ deviceId: portion.deviceId, repoKey: portion.repoKey }))
    for (const stretch of stretches(-1, (from) => sql.stretchEnd.get(streamId, from))) {
      const some = sql.snapshots.all({ streamId, ...stretch });
      const isLeft = deliveryErasure.leftOf(core, some, portion);
      yield some.filter(({ deliveryId, isCurrent }) => isLeft.has(deliveryId) && !(keepCurrent && isCurrent));
    }
}

/** The repositories that a device ever sent a brain of. @param repoKey that one alone; null for all */
const repositoriesOf = (core: Core, deviceId: string, repoKey: string | null): string[] =>
  eraseRows(core.store)
    .streams.all({ deviceId, repoKey })
    .map((stream) => stream.repoKey);

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

/** All of a team's lists of files, or of their contents. Yielded in stretches, so that others get their turn. */
function* inStretches<Row extends Digested>(after: (sha256: Buffer) => readonly Row[]): Generator<readonly Row[]> {
  for (let some = after(Buffer.alloc(0)); some.length > 0; some = after((some.at(-1) as Row).sha256)) yield some;
}

/**
 * Erases the lists and contents of files that no snapshot of a team holds any more. What came meanwhile is looked at again in the
 * transaction that removes.
 */
async function* eraseUnusedFiles(core: Core, teamId: string): AsyncGenerator<EraseStep> {
  const sql = eraseRows(core.store);
  const yieldNow = cooperative(core.clock);
  const last = sql.lastManifest.get() ?? 0;
  const filled = new Set<number>();
  const note = (manifestId: number) => {
    for (const [, blobId] of JSON.parse(browseRows(core.store).manifest.get(manifestId) ?? "[]") as ManifestEntries)
      filled.add(blobId);
  };
  for (const manifests of inStretches((sha256) => sql.manifestsAfter.all(teamId, sha256))) {
    const unused = manifests.filter(({ isUsed }) => !isUsed);
    if (unused.length > 0)
      yield () => {
        for (const { id } of unused) if (sql.dropUnused.run(id).changes === 0) note(id);
        return {};
      };
    for (const { id, isUsed } of manifests) {
      await yieldNow();
      if (isUsed) note(id);
    }
  }
  const unused: { readonly id: number; readonly blockId: number | null }[] = [];
  for (const blobs of inStretches((sha256) => sql.blobsAfter.all(teamId, sha256))) {
    await yieldNow();
    for (const blob of blobs) if (!filled.has(blob.id)) unused.push(blob);
  }
  // Grouped by block, so that each is packed anew once.
  for (const ofBlock of Map.groupBy(unused, ({ blockId }) => blockId).values())
    for (const some of portions(ofBlock))
      yield () => {
        for (const manifestId of sql.manifestsSince.all(last, teamId)) note(manifestId);
        const ids = some.flatMap(({ id }) => (filled.has(id) ? [] : [id]));
        return { files: removeContents(core, ids) };
      };
}

/** Erasing snapshots of brains. */
export const brainErasure = { repositoriesOf, snapshotsOfPortion, eraseSnapshots, eraseUnusedFiles };
