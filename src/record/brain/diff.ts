import type { Core } from "../../core.ts";
import { type Kind, kindOf } from "../../formats/brain-kinds.ts";
import { type Diff, diffLines } from "../../kit/diff.ts";
import { browseRows } from "./browse-rows.ts";
import { contentOf } from "./contents.ts";
import { type Changes, compareManifests, findSnapshot, manifestReader, type SnapshotFacts } from "./manifests.ts";
import { rows } from "./rows.ts";

interface FileChange {
  readonly path: string;
  readonly kind: Kind;
  readonly change: "added" | "changed" | "removed";
  /** Sizes on either side; null where the file is absent. */
  readonly oldBytes: number | null;
  readonly newBytes: number | null;
}

export interface SnapshotDiff {
  /** Null: compared with nothing, so that every file is new. */
  readonly from: SnapshotFacts | null;
  readonly to: SnapshotFacts;
  /** By path. */
  readonly files: readonly FileChange[];
}

/**
 * Which files differ between two snapshots of a repository.
 * @param fromId null compares with nothing
 * @returns undefined when the team has no such snapshots
 */
export function diffSnapshots(
  core: Core,
  teamId: string,
  repoKey: string,
  fromId: number | null,
  toId: number,
): SnapshotDiff | undefined {
  const sides = findSides(core, teamId, repoKey, fromId, toId);
  if (!sides) return undefined;
  const changes = compareManifests(sides.old, sides.now);
  const bytes = (blob: number | undefined) =>
    blob === undefined ? null : (browseRows(core.store).blobBytes.get(blob) ?? null);
  const listed = (change: keyof Changes) =>
    changes[change].map((path) => ({
      path,
      kind: kindOf(path),
      change,
      oldBytes: bytes(sides.old.get(path)),
      newBytes: bytes(sides.now.get(path)),
    }));
  const files = [...listed("added"), ...listed("changed"), ...listed("removed")];
  return { from: sides.from, to: sides.to, files: files.sort((a, b) => (a.path < b.path ? -1 : 1)) };
}

/**
 * How one file differs between two snapshots. Withheld content is represented by its size and digest. @returns undefined when neither has
 * the file, or there are no such snapshots
 */
export function diffSnapshotFile(
  core: Core,
  teamId: string,
  repoKey: string,
  fromId: number | null,
  toId: number,
  path: string,
): Diff | undefined {
  const sides = findSides(core, teamId, repoKey, fromId, toId);
  if (!sides || (!sides.old.has(path) && !sides.now.has(path))) return undefined;
  const text = (id: number | undefined) => {
    const blob = id === undefined ? undefined : rows(core.store).blobById.get(id);
    if (!blob?.withheldSha256) return blob ? contentOf(core, blob) : "";
    return `(not stored: ${blob.bytes} bytes, SHA-256 ${blob.withheldSha256.toString("hex")})\n`;
  };
  return diffLines(text(sides.old.get(path)), text(sides.now.get(path)));
}

function findSides(core: Core, teamId: string, repoKey: string, fromId: number | null, toId: number) {
  const from = fromId === null ? null : findSnapshot(core, teamId, repoKey, fromId);
  const to = findSnapshot(core, teamId, repoKey, toId);
  if (from === undefined || !to) return undefined;
  const manifest = manifestReader(core);
  const old: ReadonlyMap<string, number> = from ? manifest(from.manifestId) : new Map();
  return { from, to, old, now: manifest(to.manifestId) };
}
