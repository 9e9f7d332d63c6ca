import { DAY_MS, HOUR_MS } from "../../kit/clock.ts";
import { statements } from "../../platform/store/store.ts";

export interface CodeRow {
  readonly teamId: string;
  readonly expiresAt: number;
  readonly consumedAt: number | null;
  readonly personId: string | null;
  /** For how long it binds each machine; null for machines that renew their tokens. */
  readonly bindsForMs: number | null;
}

export interface DeviceRow {
  readonly id: string;
  readonly teamId: string;
  readonly label: string | null;
  /** The name of its program. */
  readonly userAgent: string | null;
  readonly consentVersion: string;
  readonly createdAt: number;
  readonly lastSeenAt: number | null;
  readonly revokedAt: number | null;
  /** When the token in use expires; null when it never does, or there is none. */
  readonly tokenExpiresAt: number | null;
  /** The person that the machine belongs to. */
  readonly personId: string | null;
  /** When the binding of a machine that lives for one job ends; null for all others. */
  readonly endsAt: number | null;
}

/** A device by one of its tokens, whatever the state of either. */
export interface TokenRow {
  readonly deviceId: string;
  readonly teamId: string;
  readonly lastSeenAt: number | null;
  readonly revokedAt: number | null;
  readonly tokenHash: Buffer;
  readonly tokenExpiresAt: number | null;
  readonly tokenReplacedAt: number | null;
}

export interface OpenCode {
  /** Identifies the code without revealing it: the first 8 bytes of its digest, in hex. */
  readonly id: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly createdBy: string | null;
  /** The person who gets the machine. */
  readonly personId: string | null;
  /** How many machines it may connect, and how many it did. */
  readonly uses: number;
  readonly used: number;
  /** For how long it binds each; null for machines that renew their tokens. */
  readonly bindsForMs: number | null;
}

/** Counts for a part of the devices: how many can report, by how long ago they did. */
export interface HeardSlice {
  /** The highest id; null where there is no device any more. */
  readonly last: string | null;
  readonly hour: number;
  readonly day: number;
  readonly week: number;
  readonly longer: number;
}

/** Parameters for a team's open codes: all of them, or those for machines of one person. */
interface CodesOf {
  readonly teamId: string;
  readonly now: number;
  readonly personId: string | null;
}

/** The row of a new code. */
interface NewCode {
  readonly digest: Buffer;
  readonly teamId: string;
  readonly now: number;
  readonly expiresAt: number;
  readonly createdBy: string;
  readonly personId: string | null;
  readonly uses: number;
  readonly bindsForMs: number | null;
}

const DEVICE = `SELECT d.id, d.team_id AS teamId, d.label, d.user_agent AS userAgent, d.consent_version AS consentVersion,
    d.created_at AS createdAt, d.last_seen_at AS lastSeenAt, d.revoked_at AS revokedAt,
    (SELECT k.expires_at FROM device_tokens k WHERE k.device_id = d.id AND k.replaced_at IS NULL
     ORDER BY k.expires_at IS NOT NULL, k.expires_at DESC LIMIT 1) AS tokenExpiresAt, d.person_id AS personId,
    d.ends_at AS endsAt
  FROM devices d`;

export const rows = statements((db) => ({
  insertCode: db.prepare<[NewCode]>(
    `INSERT INTO connect_codes (code_hash, team_id, created_at, expires_at, created_by, person_id, uses, binds_for_ms)
     VALUES (@digest, @teamId, @now, @expiresAt, @createdBy, @personId, @uses, @bindsForMs)`,
  ),
  // By connect_codes_by_team, as is expireCode.
  openCodes: db.prepare<[CodesOf & { limit: number }], OpenCode>(
    `SELECT lower(hex(substr(code_hash, 1, 8))) AS id, created_at AS createdAt, expires_at AS expiresAt, created_by AS createdBy,
       person_id AS personId, uses, used, binds_for_ms AS bindsForMs
     FROM connect_codes WHERE team_id = @teamId AND expires_at > @now AND consumed_at IS NULL
       AND (@personId IS NULL OR person_id = @personId) ORDER BY expires_at DESC, code_hash LIMIT @limit`,
  ),
  expireCode: db.prepare<[CodesOf & { id: Buffer }]>(
    `UPDATE connect_codes SET expires_at = @now WHERE team_id = @teamId AND expires_at > @now AND consumed_at IS NULL
       AND (@personId IS NULL OR person_id = @personId) AND substr(code_hash, 1, 8) = @id`,
  ),
  // By connect_codes' primary key.
  code: db.prepare<[Buffer], CodeRow>(
    `SELECT team_id AS teamId, expires_at AS expiresAt, consumed_at AS consumedAt, person_id AS personId, binds_for_ms AS bindsForMs
     FROM connect_codes WHERE code_hash = ?`,
  ),
  // Changes nothing once the code was used as often as it may be.
  consumeCode: db.prepare<[{ now: number; deviceId: string; digest: Buffer }]>(
    `UPDATE connect_codes SET used = used + 1, consumed_at = iif(used + 1 = uses, @now, NULL), device_id = iif(uses = 1, @deviceId, NULL)
     WHERE code_hash = @digest AND used < uses`,
  ),
  // By primary key; reads only columns that every schema had, because the record is verified before an upgrade, too.
  nameOf: db.prepare<[string], { teamId: string; label: string | null }>(
    "SELECT team_id AS teamId, label FROM devices WHERE id = ?",
  ),
  // By primary key.
  revokedAt: db.prepare<[string], number | null>("SELECT revoked_at FROM devices WHERE id = ?").pluck(),
  insertDevice: db.prepare<
    [string, string, string | null, string, number, string | null, string | null, number | null]
  >(
    `INSERT INTO devices (id, team_id, label, consent_version, created_at, user_agent, person_id, ends_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  ),
  insertToken: db.prepare<[Buffer, string, number, number]>(
    "INSERT INTO device_tokens (token_hash, device_id, created_at, expires_at) VALUES (?, ?, ?, ?)",
  ),
  replaceToken: db.prepare<[number, Buffer]>(
    "UPDATE device_tokens SET replaced_at = ? WHERE token_hash = ? AND replaced_at IS NULL",
  ),
  revokeDevice: db.prepare<[number, string]>("UPDATE devices SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL"),
  touchDevice: db.prepare<[number, string | null, string]>(
    "UPDATE devices SET last_seen_at = ?, user_agent = coalesce(?, user_agent) WHERE id = ?",
  ),
  assignDevice: db.prepare<[string | null, string]>("UPDATE devices SET person_id = ? WHERE id = ?"),
  renameDevice: db.prepare<[string | null, string, string]>(
    "UPDATE devices SET label = ? WHERE id = ? AND team_id = ?",
  ),
  // By device_tokens' primary key, then devices'.
  byToken: db.prepare<[Buffer], TokenRow>(
    `SELECT d.id AS deviceId, d.team_id AS teamId, d.last_seen_at AS lastSeenAt, d.revoked_at AS revokedAt,
       k.token_hash AS tokenHash, k.expires_at AS tokenExpiresAt, k.replaced_at AS tokenReplacedAt
     FROM device_tokens k JOIN devices d ON d.id = k.device_id WHERE k.token_hash = ?`,
  ),
  // By the primary key, a bounded part; device_tokens_by_device for each.
  heardAfter: db.prepare<[{ after: string; now: number; limit: number }], HeardSlice>(
    `SELECT max(id) AS last, count(*) FILTER (WHERE bound AND silent < ${HOUR_MS}) AS hour,
       count(*) FILTER (WHERE bound AND silent >= ${HOUR_MS} AND silent < ${DAY_MS}) AS day,
       count(*) FILTER (WHERE bound AND silent >= ${DAY_MS} AND silent < ${7 * DAY_MS}) AS week,
       count(*) FILTER (WHERE bound AND silent >= ${7 * DAY_MS}) AS longer
     FROM (SELECT d.id, @now - coalesce(d.last_seen_at, d.created_at) AS silent, d.revoked_at IS NULL AND EXISTS (
         SELECT 1 FROM device_tokens k WHERE k.device_id = d.id AND k.replaced_at IS NULL
           AND (k.expires_at IS NULL OR k.expires_at > @now)) AS bound
       FROM devices d WHERE d.id > @after ORDER BY d.id LIMIT @limit)`,
  ),
  // All by the primary key or devices_by_team, then device_tokens_by_device for each.
  devicesAfter: db.prepare<[string, number], DeviceRow>(`${DEVICE} WHERE d.id > ? ORDER BY d.id LIMIT ?`),
  // By devices_by_person.
  devicesOfPerson: db.prepare<[string], DeviceRow>(`${DEVICE} WHERE d.person_id = ? ORDER BY d.created_at, d.id`),
  // By devices_by_person.
  hasMore: db.prepare<[string, number], number>("SELECT 1 FROM devices WHERE person_id = ? LIMIT 1 OFFSET ?").pluck(),
  // By devices_by_person.
  idsOfPerson: db
    .prepare<[string], string>("SELECT id FROM devices WHERE person_id = ? ORDER BY created_at, id")
    .pluck(),
  idsOfTeam: db.prepare<[string], string>("SELECT id FROM devices WHERE team_id = ?").pluck(),
  device: db.prepare<[string], DeviceRow>(`${DEVICE} WHERE d.id = ?`),
  // By primary key.
  eraseDevice: db.prepare<[{ id: string; mark: string }]>(
    "UPDATE devices SET label = @mark, user_agent = NULL WHERE id = @id AND (label IS NOT @mark OR user_agent IS NOT NULL)",
  ),
  // A walk of the table, for a person who is erased.
  renameMaker: db.prepare<[{ email: string; mark: string; limit: number }]>(
    `UPDATE connect_codes SET created_by = @mark WHERE rowid IN (
       SELECT rowid FROM connect_codes WHERE created_by = @email LIMIT @limit)`,
  ),
}));
