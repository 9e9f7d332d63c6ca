import type { Core } from "../../core.ts";
import { withDeviceLabels } from "../../identity/devices/devices.ts";
import { withDeliveries } from "../../log/log.ts";
import { browseRows, type SnapshotRow } from "./browse-rows.ts";
import type { ManifestEntries } from "./rows.ts";

/** Reads manifests for one question, each once. */
export function manifestReader(core: Core): (manifestId: number) => ReadonlyMap<string, number> {
  const sql = browseRows(core.store);
  const read = new Map<number, ReadonlyMap<string, number>>();
  return (id) => {
    const known = read.get(id);
    if (known) return known;
    const made = new Map(JSON.parse(sql.manifest.get(id) ?? "[]") as ManifestEntries);
    read.set(id, made);
    return made;
  };
}

/** The blob under a path in a manifest's text, without parsing it: `["` cannot stand unescaped inside a JSON string. */
export function blobUnder(entries: string, path: string): number | undefined {
  const opening = `[${JSON.stringify(path)},`;
  const at = entries.indexOf(opening);
  return at === -1 ? undefined : Number.parseInt(entries.slice(at + opening.length, at + opening.length + 20), 10);
}

/** Snapshots with what is known of their deliveries. */
export function snapshotFacts(core: Core, snapshots: readonly SnapshotRow[]) {
  return withDeviceLabels(core, withDeliveries(core, snapshots));
}

export type SnapshotFacts = ReturnType<typeof snapshotFacts>[number];

/** A team's snapshot of a repository: the one named, or the current one. */
export function findSnapshot(
  core: Core,
  teamId: string,
  repoKey: string,
  snapshotId?: number | undefined,
): SnapshotFacts | undefined {
  const sql = browseRows(core.store);
  const id = snapshotId ?? sql.current.get(teamId, repoKey);
  const row = Number.isSafeInteger(id) ? sql.snapshot.get(id as number, teamId, repoKey) : undefined;
  return row && snapshotFacts(core, [row])[0];
}

export interface Changes {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/** Which files differ between two manifests, each list in the order of the paths. */
export function compareManifests(old: ReadonlyMap<string, number>, now: ReadonlyMap<string, number>): Changes {
  return {
    added: [...now.keys()].filter((path) => !old.has(path)),
    changed: [...now].filter(([path, blob]) => old.has(path) && old.get(path) !== blob).map(([path]) => path),
    removed: [...old.keys()].filter((path) => !now.has(path)),
  };
}
