import { statements } from "../../platform/store/store.ts";

export interface SnapshotRow {
  readonly snapshotId: number;
  readonly repoKey: string;
  /** Counts up per device and repository. */
  readonly version: number;
  readonly accepted: 0 | 1;
  readonly gap: 0 | 1;
  readonly redactionHits: number;
  readonly clientTimestamp: string | null;
  readonly deliveryId: number;
  readonly manifestId: number;
  readonly files: number;
  readonly bytes: number;
}

const SNAPSHOT = `SELECT s.id AS snapshotId, s.repo_key AS repoKey, s.version, s.accepted, s.gap, s.redaction_hits AS redactionHits,
    s.client_timestamp AS clientTimestamp, s.delivery_id AS deliveryId, s.manifest_id AS manifestId, m.files, m.bytes
  FROM brain_snapshots s CROSS JOIN brain_manifests m ON m.id = s.manifest_id`;

/** Snapshots by their indexes as named; manifests by primary key. */
export const browseRows = statements((db) => ({
  // brain_currents by its primary key's first column, snapshots by theirs.
  currents: db.prepare<[string], SnapshotRow>(
    `${SNAPSHOT} WHERE s.id IN (SELECT snapshot_id FROM brain_currents WHERE team_id = ?) ORDER BY s.repo_key`,
  ),
  // brain_currents by its primary key.
  current: db
    .prepare<[string, string], number>("SELECT snapshot_id FROM brain_currents WHERE team_id = ? AND repo_key = ?")
    .pluck(),
  // All by primary keys. Without the manifest, whose rows are long: every reply of a search asks this.
  publisher: db.prepare<[string, string], Pick<SnapshotRow, "version" | "deliveryId">>(
    `SELECT s.version, s.delivery_id AS deliveryId FROM brain_currents c CROSS JOIN brain_snapshots s ON s.id = c.snapshot_id
     WHERE c.team_id = ? AND c.repo_key = ?`,
  ),
  // By the primary key.
  snapshot: db.prepare<[number, string, string], SnapshotRow>(
    `${SNAPSHOT} WHERE s.id = ? AND s.team_id = ? AND s.repo_key = ?`,
  ),
  // All by brain_snapshots_by_repo.
  down: db.prepare<[string, string, number, number], SnapshotRow>(
    `${SNAPSHOT} WHERE s.team_id = ? AND s.repo_key = ? AND s.id < ? ORDER BY s.id DESC LIMIT ?`,
  ),
  up: db.prepare<[string, string, number, number], SnapshotRow>(
    `${SNAPSHOT} WHERE s.team_id = ? AND s.repo_key = ? AND s.id > ? ORDER BY s.id LIMIT ?`,
  ),
  acceptedBelow: db.prepare<[string, string, number, number], SnapshotRow>(
    `${SNAPSHOT} WHERE s.team_id = ? AND s.repo_key = ? AND s.id < ? AND s.accepted = 1 ORDER BY s.id DESC LIMIT ?`,
  ),
  manifest: db.prepare<[number], string>("SELECT entries FROM brain_manifests WHERE id = ?").pluck(),
  // By the primary key; the content, which comes behind it in the row, is not read.
  blobBytes: db.prepare<[number], number>("SELECT bytes FROM brain_blobs WHERE id = ?").pluck(),
}));
