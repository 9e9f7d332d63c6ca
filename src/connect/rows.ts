import { statements } from "../store/store.ts";

export interface CodeRow {
  readonly teamId: string;
  readonly expiresAt: number;
  readonly consumedAt: number | null;
}

export interface DeviceRow {
  readonly id: string;
  readonly teamId: string;
  readonly teamName: string;
  readonly label: string | null;
  readonly consentVersion: string;
  readonly createdAt: number;
  readonly lastSeenAt: number | null;
  readonly revokedAt: number | null;
}

export const rows = statements((db) => ({
  insertCode: db.prepare<[Buffer, string, number, number]>(
    "INSERT INTO connect_codes (code_hash, team_id, created_at, expires_at) VALUES (?, ?, ?, ?)",
  ),
  // By connect_codes' primary key.
  code: db.prepare<[Buffer], CodeRow>(
    "SELECT team_id AS teamId, expires_at AS expiresAt, consumed_at AS consumedAt FROM connect_codes WHERE code_hash = ?",
  ),
  consumeCode: db.prepare<[number, string, Buffer]>(
    "UPDATE connect_codes SET consumed_at = ?, device_id = ? WHERE code_hash = ? AND consumed_at IS NULL",
  ),
  insertDevice: db.prepare<[string, string, string | null, string, number]>(
    "INSERT INTO devices (id, team_id, label, consent_version, created_at) VALUES (?, ?, ?, ?, ?)",
  ),
  insertToken: db.prepare<[Buffer, string, number, number]>(
    "INSERT INTO device_tokens (token_hash, device_id, created_at, expires_at) VALUES (?, ?, ?, ?)",
  ),
  replaceToken: db.prepare<[number, Buffer]>(
    "UPDATE device_tokens SET replaced_at = ? WHERE token_hash = ? AND replaced_at IS NULL",
  ),
  revokeDevice: db.prepare<[number, string]>("UPDATE devices SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL"),
  touchDevice: db.prepare<[number, string]>("UPDATE devices SET last_seen_at = ? WHERE id = ?"),
  // By devices_by_team.
  devices: db.prepare<[string | null, string | null], DeviceRow>(
    `SELECT d.id, d.team_id AS teamId, t.name AS teamName, d.label, d.consent_version AS consentVersion, d.created_at AS createdAt,
       d.last_seen_at AS lastSeenAt, d.revoked_at AS revokedAt
     FROM devices d JOIN teams t ON t.id = d.team_id WHERE ? IS NULL OR d.team_id = ? ORDER BY d.team_id, d.created_at, d.id`,
  ),
  device: db.prepare<[string], { id: string; revokedAt: number | null }>(
    "SELECT id, revoked_at AS revokedAt FROM devices WHERE id = ?",
  ),
}));
