import { statements } from "../../platform/store/store.ts";

export interface ErasableSnapshot {
  readonly id: number;
  readonly teamId: string;
  readonly repoKey: string;
  readonly deliveryId: number;
  readonly isCurrent: 0 | 1;
}

export const eraseRows = statements((db) => ({
  // By brain_streams' unique index (device_id, repo_key).
  repositories: db
    .prepare<[{ deviceId: string; repoKey: string | null }], string>(
      "SELECT repo_key FROM brain_streams WHERE device_id = @deviceId AND (@repoKey IS NULL OR repo_key = @repoKey)",
    )
    .pluck(),
  // Streams by their unique index (device_id, repo_key), snapshots by theirs (stream_id, …).
  snapshots: db.prepare<[{ deviceId: string; repoKey: string | null }], ErasableSnapshot>(
    `SELECT s.id, s.team_id AS teamId, s.repo_key AS repoKey, s.delivery_id AS deliveryId,
       EXISTS (SELECT 1 FROM brain_currents c WHERE c.snapshot_id = s.id) AS isCurrent
     FROM brain_streams t CROSS JOIN brain_snapshots s ON s.stream_id = t.id
     WHERE t.device_id = @deviceId AND (@repoKey IS NULL OR t.repo_key = @repoKey) ORDER BY s.id`,
  ),
  // By primary keys.
  exported: db.prepare<
    [number],
    { snapshotId: number; repoKey: string; version: number; accepted: 0 | 1; deliveryId: number; entries: string }
  >(
    `SELECT s.id AS snapshotId, s.repo_key AS repoKey, s.version, s.accepted, s.delivery_id AS deliveryId, m.entries
     FROM brain_snapshots s CROSS JOIN brain_manifests m ON m.id = s.manifest_id WHERE s.id = ?`,
  ),
  // By primary key; brain_currents by brain_currents_by_snapshot.
  isCurrent: db.prepare<[number], 1>("SELECT 1 FROM brain_currents WHERE snapshot_id = ?").pluck(),
  dropCurrent: db.prepare<[number]>("DELETE FROM brain_currents WHERE snapshot_id = ?"),
  dropSnapshot: db.prepare<[number]>("DELETE FROM brain_snapshots WHERE id = ?"),
  // By brain_snapshots_by_repo, from its end.
  newestAccepted: db
    .prepare<[string, string], number>(
      "SELECT id FROM brain_snapshots WHERE team_id = ? AND repo_key = ? AND accepted = 1 ORDER BY id DESC LIMIT 1",
    )
    .pluck(),
  // By brain_snapshots_by_repo, its first column.
  manifestsInUse: db
    .prepare<[string, number], number>("SELECT DISTINCT manifest_id FROM brain_snapshots WHERE team_id = ? AND id > ?")
    .pluck(),
  lastSnapshot: db.prepare<[], number | null>("SELECT max(id) FROM brain_snapshots").pluck(),
  // By brain_manifests' unique index, its first column.
  manifests: db
    .prepare<[string, number], number>("SELECT id FROM brain_manifests WHERE team_id = ? AND id > ?")
    .pluck(),
  lastManifest: db.prepare<[], number | null>("SELECT max(id) FROM brain_manifests").pluck(),
  // By primary key.
  entries: db.prepare<[number], string>("SELECT entries FROM brain_manifests WHERE id = ?").pluck(),
  dropManifest: db.prepare<[number]>("DELETE FROM brain_manifests WHERE id = ?"),
  // By brain_blobs' unique index, its first column.
  blobs: db.prepare<[string], number>("SELECT id FROM brain_blobs WHERE team_id = ?").pluck(),
  dropBlob: db.prepare<[number]>("DELETE FROM brain_blobs WHERE id = ?"),
}));
