import { holdsSought } from "../../kit/strings.ts";
import { statements } from "../../platform/store/store.ts";

/** What the pack's own row holds. */
export interface StoredPack {
  readonly id: string;
  readonly teamId: string;
  readonly name: string;
  readonly title: string;
  readonly summary: string;
  readonly license: string;
  /** A JSON array of strings. */
  readonly tags: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly featuredAt: number | null;
  readonly removedAt: number | null;
  readonly removedReason: string | null;
}

export interface VersionRow {
  readonly id: number;
  readonly version: string;
  readonly rules: number;
  readonly files: number;
  readonly bytes: number;
  readonly sha256: Buffer;
  readonly publishedAt: number;
}

/** A pack with one of its versions and how often it was installed. */
export interface PackRow extends Omit<StoredPack, "updatedAt">, Omit<VersionRow, "id"> {
  readonly versionId: number;
  /** A JSON array of fingerprints in hexadecimal digits. */
  readonly classes: string;
  readonly installs: number;
  readonly recentInstalls: number;
}

interface NewVersion {
  readonly packId: string;
  readonly version: string;
  readonly readme: string;
  readonly files: string;
  readonly rules: number;
  readonly classes: string;
  readonly archive: Uint8Array;
  readonly sha256: Uint8Array;
  readonly at: number;
}

/**
 * Packs by one version of each, in the order of the versions' ids given. All by primary key, installs by the first column of
 * theirs.
 */
const PACK = `SELECT p.id, p.team_id AS teamId, p.name, p.title, p.summary, p.license,
    p.tags, p.created_at AS createdAt, p.featured_at AS featuredAt, p.removed_at AS removedAt, p.removed_reason AS removedReason,
    v.id AS versionId, v.version, v.rules, v.classes, json_array_length(v.files) AS files, length(v.archive) AS bytes, v.sha256,
    v.created_at AS publishedAt,
    (SELECT count(*) FROM pack_installs i WHERE i.pack_id = p.id) AS installs,
    (SELECT count(*) FROM pack_installs i WHERE i.pack_id = p.id AND i.installed_at > @since) AS recentInstalls
  FROM json_each(@versionIds) c CROSS JOIN pack_versions v ON v.id = c.value CROSS JOIN packs p ON p.id = v.pack_id
  ORDER BY c.key`;
const STORED = `SELECT id, team_id AS teamId, name, title, summary, license, tags, created_at AS createdAt, updated_at AS updatedAt,
    featured_at AS featuredAt, removed_at AS removedAt, removed_reason AS removedReason FROM packs`;

/** Parameters for a page of packs by name. */
interface PacksFrom {
  readonly after: string;
  /** Only of this team; null for all. */
  readonly teamId: string | null;
  readonly text: string | null;
  readonly begins: string | null;
  /** A JSON list: teams whose names have the text. */
  readonly publishers: string;
  readonly limit: number;
}

export const rows = statements((db) => ({
  packs: db.prepare<[{ since: number; versionIds: string }], PackRow>(PACK),
  // The whole table.
  published: db.prepare<[], string>("SELECT id FROM packs WHERE removed_at IS NULL").pluck(),
  // From a name on, by the unique index on packs.name.
  from: db
    .prepare<[PacksFrom], string>(
      `SELECT id FROM packs WHERE name > @after AND (@teamId IS NULL OR team_id = @teamId)
         AND (@text IS NULL OR ${holdsSought("name", "title")} OR team_id IN (SELECT value FROM json_each(@publishers)))
       ORDER BY name LIMIT @limit`,
    )
    .pluck(),
  // By packs_by_team.
  ofTeam: db.prepare<[string], string>("SELECT id FROM packs WHERE team_id = ? ORDER BY created_at DESC, name").pluck(),
  countOfTeam: db.prepare<[string], number>("SELECT count(*) FROM packs WHERE team_id = ?").pluck(),
  // By the unique index on packs.name.
  stored: db.prepare<[string], StoredPack>(`${STORED} WHERE name = ?`),
  // All by the unique index on (pack_id, version).
  versionIds: db.prepare<[string], { id: number; version: string }>(
    "SELECT id, version FROM pack_versions WHERE pack_id = ?",
  ),
  versions: db.prepare<[string], VersionRow>(
    `SELECT id, version, rules, json_array_length(files) AS files, length(archive) AS bytes, sha256, created_at AS publishedAt
     FROM pack_versions WHERE pack_id = ? ORDER BY id DESC`,
  ),
  archive: db.prepare<[string, string], { id: number; archive: Buffer; sha256: Buffer }>(
    "SELECT id, archive, sha256 FROM pack_versions WHERE pack_id = ? AND version = ?",
  ),
  // By primary key.
  contents: db.prepare<[number], { readme: string; files: string }>(
    "SELECT readme, files FROM pack_versions WHERE id = ?",
  ),
  insertPack: db.prepare<[StoredPack]>(
    `INSERT INTO packs (id, team_id, name, title, summary, license, tags, created_at, updated_at)
     VALUES (@id, @teamId, @name, @title, @summary, @license, @tags, @createdAt, @updatedAt)`,
  ),
  updatePack: db.prepare<[StoredPack]>(
    `UPDATE packs SET title = @title, summary = @summary, license = @license, tags = @tags, updated_at = @updatedAt,
       featured_at = @featuredAt, removed_at = @removedAt, removed_reason = @removedReason WHERE id = @id AND team_id = @teamId`,
  ),
  insertVersion: db.prepare<[NewVersion]>(
    `INSERT INTO pack_versions (pack_id, version, readme, files, rules, classes, archive, sha256, created_at)
     VALUES (@packId, @version, @readme, @files, @rules, @classes, @archive, @sha256, @at)`,
  ),
  // Both by the first column of pack_installs' primary key.
  installsOf: db.prepare<[string], { deviceId: string; at: number }>(
    "SELECT device_id AS deviceId, installed_at AS at FROM pack_installs WHERE pack_id = ?",
  ),
  // Of all packs of a publisher at once: the devices are many, and would be read anew for each.
  installsBy: db.prepare<[{ packs: string; devices: string }], { id: string; installs: number }>(
    `SELECT pack_id AS id, count(*) AS installs FROM pack_installs
     WHERE pack_id IN (SELECT value FROM json_each(@packs)) AND +device_id IN (SELECT value FROM json_each(@devices))
     GROUP BY pack_id`,
  ),
  // By the primary key.
  installed: db
    .prepare<[string, string], string>("SELECT version FROM pack_installs WHERE pack_id = ? AND device_id = ?")
    .pluck(),
  // A device counts once, from its first download on.
  install: db.prepare<[string, string, string, number]>(
    `INSERT INTO pack_installs (pack_id, device_id, version, installed_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (pack_id, device_id) DO UPDATE SET version = excluded.version`,
  ),
  // By packs_by_team.
  publishers: db.prepare<[], { teamId: string; packs: number }>(
    "SELECT team_id AS teamId, count(*) AS packs FROM packs GROUP BY team_id",
  ),
}));
