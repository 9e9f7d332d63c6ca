import { statements } from "../../platform/store/store.ts";
import { type ContentPlace, contentPlace } from "./content-rows.ts";

/** A manifest's entries: path and blob id, sorted by path. */
export type ManifestEntries = readonly (readonly [path: string, blobId: number])[];

export interface CurrentRow {
  readonly teamId: string;
  readonly repoKey: string;
  readonly snapshotId: number;
  readonly entries: string;
}

export interface SnapshotRow {
  readonly accepted: 0 | 1;
  readonly gap: 0 | 1;
}

/** A snapshot as it is stored; what is null belongs to a row that is gone. */
export interface StoredSnapshotRow {
  readonly id: number;
  readonly deliveryId: number;
  readonly version: number;
  readonly accepted: number;
  readonly gap: number;
  readonly teamId: string;
  readonly repoKey: string;
  readonly entries: string | null;
  /** Its stream's. */
  readonly deviceId: string | null;
  /** Whether stream and manifest are of the same team, the stream of the same repository; null where one is gone. */
  readonly fits: number | null;
}

const CURRENT = `SELECT c.team_id AS teamId, c.repo_key AS repoKey, c.snapshot_id AS snapshotId, m.entries
  FROM brain_currents c JOIN brain_snapshots s ON s.id = c.snapshot_id JOIN brain_manifests m ON m.id = s.manifest_id`;

const STORED_SNAPSHOT = `SELECT s.id, s.delivery_id AS deliveryId, s.version, s.accepted, s.gap, s.team_id AS teamId, s.repo_key AS repoKey, m.entries,
    t.device_id AS deviceId, t.team_id = s.team_id AND t.repo_key = s.repo_key AND m.team_id = s.team_id AS fits
  FROM brain_snapshots s LEFT JOIN brain_streams t ON t.id = s.stream_id LEFT JOIN brain_manifests m ON m.id = s.manifest_id`;

export const rows = statements((db, has) => ({
  // By brain_blobs' unique index (team_id, sha256): one question is answered in a third of the time of one for each digest.
  knownBlobs: db.prepare<
    { teamId: string; digests: string; rulesVersion: string },
    { place: number; blobId: number; bytes: number; isWithheld: 0 | 1 }
  >(
    `SELECT key AS place, b.id AS blobId, b.bytes, ${has("brain_blobs", "withheld_sha256") ? "b.withheld_sha256 IS NOT NULL" : "0"} AS isWithheld
     FROM json_each(@digests)
     CROSS JOIN brain_blobs b ON b.team_id = @teamId AND b.sha256 = unhex(value) WHERE b.rules_version = @rulesVersion`,
  ),
  /** How many of these ids there are, each as often as it is asked for. */
  countBlobs: db
    .prepare<[string], number>("SELECT count(*) FROM json_each(?) CROSS JOIN brain_blobs b ON b.id = value")
    .pluck(),
  insertBlob: db
    .prepare<[string, Buffer, string, number, string, Buffer | null], number>(
      `INSERT INTO brain_blobs (team_id, sha256, rules_version, bytes, content, withheld_sha256) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (team_id, sha256) DO UPDATE SET rules_version = excluded.rules_version RETURNING id`,
    )
    .pluck(),
  blobById: db.prepare<[number], ContentPlace & { teamId: string; sha256: Buffer; withheldSha256: Buffer | null }>(
    `SELECT team_id AS teamId, sha256, ${has("brain_blobs", "withheld_sha256") ? "withheld_sha256" : "NULL"} AS withheldSha256,
       ${contentPlace(has("brain_blobs", "block_id"))} FROM brain_blobs WHERE id = ?`,
  ),
  // Blocks that hold no content, or another team's: a team's move takes its blocks along. By brain_blobs_by_block.
  blocksAstray: db
    .prepare<[], number>(
      has("brain_blobs", "block_id")
        ? `SELECT id FROM brain_blocks k WHERE NOT EXISTS (SELECT 1 FROM brain_blobs WHERE block_id = k.id)
             OR EXISTS (SELECT 1 FROM brain_blobs WHERE block_id = k.id AND team_id <> k.team_id)`
        : "SELECT 0 WHERE 0",
    )
    .pluck(),
  // Files that have a text in their row, though it lies in a block: nothing reads it.
  doubled: db
    .prepare<[], number>(
      has("brain_blobs", "block_id")
        ? "SELECT id FROM brain_blobs WHERE block_id IS NOT NULL AND content <> ''"
        : "SELECT 0 WHERE 0",
    )
    .pluck(),
  // By brain_manifests' unique index (team_id, sha256).
  manifest: db
    .prepare<[string, Buffer], number>("SELECT id FROM brain_manifests WHERE team_id = ? AND sha256 = ?")
    .pluck(),
  insertManifest: db.prepare<[string, Buffer, number, number, string]>(
    "INSERT INTO brain_manifests (team_id, sha256, files, bytes, entries) VALUES (?, ?, ?, ?, ?)",
  ),
  // By brain_streams' unique index (device_id, repo_key).
  stream: db.prepare<[string, string], { id: number; teamId: string; lastVersion: number }>(
    "SELECT id, team_id AS teamId, last_version AS lastVersion FROM brain_streams WHERE device_id = ? AND repo_key = ?",
  ),
  insertStream: db.prepare<[string, string, string, number]>(
    "INSERT INTO brain_streams (team_id, device_id, repo_key, last_version) VALUES (?, ?, ?, ?)",
  ),
  updateStream: db.prepare<[number, number]>("UPDATE brain_streams SET last_version = ? WHERE id = ?"),
  // By brain_snapshots' unique index (stream_id, version, manifest_id).
  snapshot: db.prepare<[number, number, number], SnapshotRow>(
    "SELECT accepted, gap FROM brain_snapshots WHERE stream_id = ? AND version = ? AND manifest_id = ?",
  ),
  anyOfVersion: db
    .prepare<[number, number], 1>("SELECT 1 FROM brain_snapshots WHERE stream_id = ? AND version = ? LIMIT 1")
    .pluck(),
  insertSnapshot: db.prepare<[number, string, string, number, number, number, number, number, number, string | null]>(
    `INSERT INTO brain_snapshots (stream_id, team_id, repo_key, version, manifest_id, delivery_id, accepted, gap, redaction_hits, client_timestamp)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ),
  setCurrent: db.prepare<[string, string, number]>(
    `INSERT INTO brain_currents (team_id, repo_key, snapshot_id) VALUES (?, ?, ?)
     ON CONFLICT (team_id, repo_key) DO UPDATE SET snapshot_id = excluded.snapshot_id`,
  ),
  // brain_currents by its primary key's first column; the others by primary key.
  currents: db.prepare<[string], CurrentRow>(`${CURRENT} WHERE c.team_id = ? ORDER BY c.repo_key`),
  currentIds: db.prepare<[string], { repoKey: string; snapshotId: number }>(
    "SELECT repo_key AS repoKey, snapshot_id AS snapshotId FROM brain_currents WHERE team_id = ?",
  ),
  // By brain_currents_by_snapshot; the others by primary key.
  newestSnapshot: db.prepare<[], number | null>("SELECT max(id) FROM brain_snapshots").pluck(),
  nextCurrent: db.prepare<[number], CurrentRow>(`${CURRENT} WHERE c.snapshot_id > ? ORDER BY c.snapshot_id LIMIT 1`),
  // In the order of ids, which is the order of deliveries; streams and manifests by primary key.
  snapshotsByDelivery: db.prepare<[], StoredSnapshotRow>(`${STORED_SNAPSHOT} ORDER BY s.id`),
  // By primary keys.
  storedSnapshot: db.prepare<[number], StoredSnapshotRow>(`${STORED_SNAPSHOT} WHERE s.id = ?`),
  // Repositories whose current snapshot is not the newest accepted one; brain_snapshots by brain_snapshots_by_repo.
  currentsAstray: db.prepare<
    [],
    { repoKey: string; currentId: number | null; newestId: number | null; deliveryId: number }
  >(
    `SELECT coalesce(c.repo_key, n.repo_key) AS repoKey, c.snapshot_id AS currentId, n.id AS newestId, coalesce(s.delivery_id, 0) AS deliveryId
     FROM (SELECT team_id, repo_key, max(id) AS id FROM brain_snapshots WHERE accepted = 1 GROUP BY team_id, repo_key) n
       FULL JOIN brain_currents c ON c.team_id = n.team_id AND c.repo_key = n.repo_key
       LEFT JOIN brain_snapshots s ON s.id = coalesce(n.id, c.snapshot_id)
     WHERE n.id IS NOT c.snapshot_id`,
  ),
  // Streams whose last version is not the highest that they had accepted, with the delivery of that.
  streamsAstray: db.prepare<
    [],
    {
      id: number;
      deviceId: string;
      repoKey: string;
      lastVersion: number;
      highestVersion: number | null;
      deliveryId: number;
    }
  >(
    `SELECT t.id, t.device_id AS deviceId, t.repo_key AS repoKey, t.last_version AS lastVersion, n.version AS highestVersion, coalesce(n.delivery_id, 0) AS deliveryId
     FROM brain_streams t
       LEFT JOIN (SELECT stream_id, delivery_id, max(version) AS version FROM brain_snapshots WHERE accepted = 1 GROUP BY stream_id) n
       ON n.stream_id = t.id
     WHERE n.version IS NOT t.last_version`,
  ),
}));
