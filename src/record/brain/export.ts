import type { Core } from "../../core.ts";
import type { ExportedItem } from "../../kit/items.ts";
import { eraseRows } from "./erase-rows.ts";
import { type ManifestEntries, rows } from "./rows.ts";
import { snapshotTexts } from "./store-snapshot.ts";

/** A snapshot with the digests under which its files are stored. */
interface ExportedSnapshot {
  readonly snapshotId: number;
  readonly deviceId: string;
  readonly repoKey: string;
  readonly version: number;
  readonly accepted: boolean;
  readonly deliveryId: number;
  /** `blobId` names the content; `sha256`, in hex, is what it is addressed by. */
  readonly files: readonly { readonly path: string; readonly sha256: string; readonly blobId: number }[];
}

/** Every snapshot that a device sent, oldest first. @param repoKey only of this repository; null for all */
function* exportSnapshots(core: Core, deviceId: string, repoKey: string | null): Generator<ExportedSnapshot> {
  const sql = eraseRows(core.store);
  for (const id of sql.ofDevice.all({ deviceId, repoKey })) {
    const found = sql.exported.get(id);
    if (!found) continue;
    const { entries, accepted, ...snapshot } = found;
    const files = (JSON.parse(entries) as ManifestEntries).map(([path, blobId]) => ({
      path,
      sha256: rows(core.store).blobById.get(blobId)?.sha256.toString("hex") ?? "",
      blobId,
    }));
    yield { ...snapshot, deviceId, accepted: accepted === 1, files };
  }
}

/** The items of a snapshot that was exported. */
function itemsOf(text: string): ExportedItem[] {
  const { deliveryId, deviceId, repoKey, files, version, accepted } = JSON.parse(text) as ExportedSnapshot;
  const contents = files.map(({ path, sha256 }) => ({ path, sha256: Buffer.from(sha256, "hex") }));
  return snapshotTexts(contents, version, accepted).map((one, i) => ({
    deliveryId,
    item: i + 1,
    text: one,
    facts: { deviceId, repoKey },
  }));
}

/** What an export writes of brains, and how it is read again. */
export const brainExport = { snapshots: exportSnapshots, itemsOf };
