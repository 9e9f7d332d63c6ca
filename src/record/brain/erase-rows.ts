import type { Stretch } from "../../kit/erase-steps.ts";
import { type Preparer, statements } from "../../platform/store/store.ts";

export interface ErasableSnapshot {
  readonly id: number;
  readonly teamId: string;
  readonly repoKey: string;
  readonly deliveryId: number;
  readonly isCurrent: 0 | 1;
}

interface StretchQuery extends Stretch<number> {
  readonly streamId: number;
}

/** A list of files, or the content of one, as it is found in the order of digests. */
export interface Digested {
  readonly id: number;
  readonly sha256: Buffer;
}

/** Rows that are looked at in one go. */
const STRETCH = 1_000;

const IS_USED = "EXISTS (SELECT 1 FROM brain_snapshots WHERE manifest_id = t.id)";

/** What a team has in a table, in the order of digests. */
const after = <Row>(db: Preparer, table: string, more = "") =>
  db.prepare<[string, Buffer], Row>(
    `SELECT id, sha256${more} FROM ${table} t WHERE team_id = ? AND sha256 > ? ORDER BY sha256 LIMIT ${STRETCH}`,
  );

export const eraseRows = statements((db) => ({
  // By brain_streams' unique index (device_id, repo_key).
  streams: db.prepare<[{ deviceId: string; repoKey: string | null }], { id: number; repoKey: string }>(
    "SELECT id, repo_key AS repoKey FROM brain_streams WHERE device_id = @deviceId AND (@repoKey IS NULL OR repo_key = @repoKey)",
  ),
  // Both by brain_snapshots' unique index (stream_id, version, …).
  stretchEnd: db
    .prepare<[number, number], number>(
      `SELECT version FROM brain_snapshots WHERE stream_id = ? AND version > ? ORDER BY version LIMIT 1 OFFSET ${STRETCH - 1}`,
    )
    .pluck(),
  snapshots: db.prepare<[StretchQuery], ErasableSnapshot>(
    `SELECT id, team_id AS teamId, repo_key AS repoKey, delivery_id AS deliveryId,
       EXISTS (SELECT 1 FROM brain_currents c WHERE c.snapshot_id = s.id) AS isCurrent
     FROM brain_snapshots s WHERE stream_id = @streamId AND version > @from AND (@to IS NULL OR version <= @to)`,
  ),
  // Streams by their unique index (device_id, repo_key), snapshots by theirs (stream_id, …), which has their numbers.
  ofDevice: db
    .prepare<[{ deviceId: string; repoKey: string | null }], number>(
      `SELECT s.id FROM brain_streams t CROSS JOIN brain_snapshots s ON s.stream_id = t.id
       WHERE t.device_id = @deviceId AND (@repoKey IS NULL OR t.repo_key = @repoKey) ORDER BY s.id`,
    )
    .pluck(),
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
  // By the unique index (team_id, sha256) of each; by brain_snapshots_by_manifest.
  manifestsAfter: after<Digested & { isUsed: 0 | 1 }>(db, "brain_manifests", `, ${IS_USED} AS isUsed`),
  blobsAfter: after<Digested & { blockId: number | null }>(db, "brain_blobs", ", block_id AS blockId"),
  dropUnused: db.prepare<[number]>(`DELETE FROM brain_manifests AS t WHERE id = ? AND NOT ${IS_USED}`),
  // By primary keys.
  lastManifest: db.prepare<[], number | null>("SELECT max(id) FROM brain_manifests").pluck(),
  manifestsSince: db
    .prepare<[number, string], number>("SELECT id FROM brain_manifests WHERE id > ? AND +team_id = ?")
    .pluck(),
}));
