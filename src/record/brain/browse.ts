import { type Core, slot } from "../../core.ts";
import { type Kind, kindOf } from "../../formats/brain-kinds.ts";
import { withDeliveries } from "../../log/log.ts";
import { browseRows } from "./browse-rows.ts";
import { contentOf } from "./contents.ts";
import { findSnapshot, manifestReader, type SnapshotFacts, snapshotFacts } from "./manifests.ts";
import { rows } from "./rows.ts";

/** A repository by its current snapshot. */
export interface Repository extends SnapshotFacts {
  /** Files of each kind; kinds without files are absent. */
  readonly kinds: Readonly<Partial<Record<Kind, number>>>;
}

/** A team's repositories, by key (`""` for what came without one). Their files are looked through where they are asked for. */
export const listRepositories = (core: Core, teamId: string): Repository[] =>
  snapshotFacts(core, browseRows(core.store).currents.all(teamId)).map((snapshot) => ({
    ...snapshot,
    get kinds() {
      return kindsIn(core, snapshot.manifestId);
    },
  }));

/** By manifest, none of which ever changes. */
const kindsKnown = slot(() => new Map<number, Repository["kinds"]>());
const MAX_KNOWN = 10_000;

function kindsIn(core: Core, manifestId: number): Repository["kinds"] {
  const known = kindsKnown(core);
  const found = known.get(manifestId);
  if (found) return found;
  const kinds: Partial<Record<Kind, number>> = {};
  for (const path of manifestReader(core)(manifestId).keys()) {
    const kind = kindOf(path);
    kinds[kind] = (kinds[kind] ?? 0) + 1;
  }
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(manifestId, kinds);
  return kinds;
}

interface BrainFile {
  readonly path: string;
  readonly kind: Kind;
  readonly bytes: number;
  /** When the content it has in this snapshot first came; with `orEarlier`, it was there before all that was looked at. */
  readonly changedAt: number;
  readonly orEarlier: boolean;
}

export interface FileList {
  readonly snapshot: SnapshotFacts;
  /** Whether the snapshot is the repository's current one. */
  readonly current: boolean;
  /** By path. */
  readonly files: readonly BrainFile[];
}

/** Accepted snapshots looked back through for when a file changed. */
const LOOK_BACK = 100;

/** The files of a snapshot, by default the current one. @returns undefined when the team has no such snapshot */
export function listFiles(core: Core, teamId: string, repoKey: string, snapshotId?: number): FileList | undefined {
  const snapshot = findSnapshot(core, teamId, repoKey, snapshotId);
  if (!snapshot) return undefined;
  const sql = browseRows(core.store);
  const manifest = manifestReader(core);
  const files = manifest(snapshot.manifestId);
  const changedAt = new Map([...files.keys()].map((path) => [path, snapshot.receivedAt]));
  const open = new Set(files.keys());
  const earlier = withDeliveries(core, sql.acceptedBelow.all(teamId, repoKey, snapshot.snapshotId, LOOK_BACK));
  for (const { manifestId, receivedAt } of earlier) {
    if (open.size === 0) break;
    const before = manifest(manifestId);
    for (const path of open)
      if (before.get(path) === files.get(path)) changedAt.set(path, receivedAt);
      else open.delete(path);
  }
  const whole = earlier.length < LOOK_BACK;
  return {
    snapshot,
    current: sql.current.get(teamId, repoKey) === snapshot.snapshotId,
    files: [...files].map(([path, blobId]) => ({
      path,
      kind: kindOf(path),
      bytes: sql.blobBytes.get(blobId) ?? 0,
      changedAt: changedAt.get(path) as number,
      orEarlier: !whole && open.has(path),
    })),
  };
}

export interface FileContent {
  readonly path: string;
  readonly kind: Kind;
  readonly bytes: number;
  /** Empty where the capture policy withheld it. */
  readonly content: string;
  /** Of the content that was withheld; null where it is stored. */
  readonly withheldSha256: Buffer | null;
  readonly snapshot: SnapshotFacts;
  readonly current: boolean;
}

/** One file of a snapshot, by default of the current one. @returns undefined when there is no such file */
export function readFile(
  core: Core,
  teamId: string,
  repoKey: string,
  path: string,
  snapshotId?: number,
): FileContent | undefined {
  const snapshot = findSnapshot(core, teamId, repoKey, snapshotId);
  const blobId = snapshot && manifestReader(core)(snapshot.manifestId).get(path);
  const blob = blobId === undefined ? undefined : rows(core.store).blobById.get(blobId);
  if (!snapshot || !blob) return undefined;
  const current = browseRows(core.store).current.get(teamId, repoKey) === snapshot.snapshotId;
  const { bytes, withheldSha256 } = blob;
  return { path, kind: kindOf(path), bytes, content: contentOf(core, blob), withheldSha256, snapshot, current };
}
