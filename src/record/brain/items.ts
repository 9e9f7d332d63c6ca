import type { Core } from "../../core.ts";
import { parseJson } from "../../formats/values.ts";
import { sameDigest, sha256 } from "../../kit/hash.ts";
import { contentOf } from "./contents.ts";
import { type ManifestEntries, rows, type StoredSnapshotRow } from "./rows.ts";
import { withheldDigest } from "./snapshot.ts";
import { snapshotTexts } from "./store-snapshot.ts";

interface File {
  readonly path: string;
  readonly sha256: Buffer;
}

/** Gives a snapshot's files, each read once; undefined when something of it is gone, altered or another team's. */
export function fileReader(core: Core): (snapshot: StoredSnapshotRow) => File[] | undefined {
  const sound = new Map<number, Pick<Blob, "teamId" | "sha256"> | undefined>();
  const soundBlob = (id: number) => {
    if (!sound.has(id)) {
      const blob = rows(core.store).blobById.get(id);
      const isSound = blob && sameDigest(digestOfBlob(core, blob), blob.sha256);
      sound.set(id, isSound ? { teamId: blob.teamId, sha256: blob.sha256 } : undefined);
    }
    return sound.get(id);
  };
  return ({ entries, teamId }) => {
    const listed = entries === null ? undefined : entriesIn(entries);
    if (!listed) return undefined;
    const files: File[] = [];
    for (const [path, blobId] of listed) {
      const blob = soundBlob(blobId);
      if (blob?.teamId !== teamId) return undefined;
      files.push({ path, sha256: blob.sha256 });
    }
    return files;
  };
}

/** A list of files as it is stored; undefined where somebody stored something else there. */
function entriesIn(stored: string): ManifestEntries | undefined {
  const entries = parseJson(stored);
  const isEntry = (one: unknown) => Array.isArray(one) && typeof one[0] === "string" && typeof one[1] === "number";
  return Array.isArray(entries) && entries.every(isEntry) ? (entries as ManifestEntries) : undefined;
}

type Blob = NonNullable<ReturnType<ReturnType<typeof rows>["blobById"]["get"]>>;

/** The digest that a blob's address must equal. For a withheld blob that holds content all the same, it is one that cannot. */
function digestOfBlob(core: Core, blob: Blob): Buffer {
  const content = contentOf(core, blob);
  if (!blob.withheldSha256) return sha256(content);
  return content === "" ? withheldDigest(blob.withheldSha256, blob.bytes) : Buffer.alloc(0);
}

/**
 * The delivery of a snapshot; and when called its items by their places, all of them its own. Undefined where there is no such snapshot.
 */
export function snapshotItems(
  core: Core,
  id: number,
): { readonly deliveryId: number; items(): { own: readonly number[]; texts: Map<number, string> } } | undefined {
  const snapshot = rows(core.store).storedSnapshot.get(id);
  if (!snapshot) return undefined;
  const { deliveryId, version, accepted } = snapshot;
  const items = () => {
    const list = snapshotTexts(fileReader(core)(snapshot) ?? [], version, accepted === 1);
    const texts = new Map(list.map((text, i) => [i + 1, text]));
    return { own: [...texts.keys()], texts };
  };
  return { deliveryId, items };
}
