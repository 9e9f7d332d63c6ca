import { statements } from "../../platform/store/store.ts";

export type Channel = "npm" | "desktop";

export interface AuthorizationRow {
  readonly userCode: string;
  readonly channel: Channel | null;
  readonly ip: string;
  readonly userAgent: string | null;
  readonly status: "pending" | "approved" | "denied" | "redeemed";
  readonly userId: string | null;
  readonly createdAt: number;
  readonly expiresAt: number;
}

export interface TokenRow {
  readonly id: string;
  readonly userId: string;
  readonly channel: Channel | null;
  /** Where the token was fetched from. */
  readonly ip: string;
  readonly userAgent: string | null;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
}

type NewAuthorization = Omit<AuthorizationRow, "status" | "userId"> & { readonly hash: Buffer };
type NewToken = Omit<TokenRow, "lastUsedAt" | "revokedAt">;

const AUTHORIZATION = `user_code AS userCode, channel, ip, user_agent AS userAgent, status, user_id AS userId, created_at AS createdAt,
  expires_at AS expiresAt FROM device_authorizations`;
const TOKEN = `SELECT id, user_id AS userId, channel, ip, user_agent AS userAgent, created_at AS createdAt, expires_at AS expiresAt,
  last_used_at AS lastUsedAt, revoked_at AS revokedAt FROM cli_tokens`;

export const rows = statements((db) => ({
  insertAuthorization: db.prepare<[NewAuthorization]>(
    `INSERT INTO device_authorizations (device_code_hash, user_code, channel, ip, user_agent, status, created_at, expires_at)
     VALUES (@hash, @userCode, @channel, @ip, @userAgent, 'pending', @createdAt, @expiresAt)`,
  ),
  // By device_authorizations' primary key.
  byDeviceCode: db.prepare<[Buffer], AuthorizationRow>(`SELECT ${AUTHORIZATION} WHERE device_code_hash = ?`),
  redeem: db.prepare<[Buffer, number]>(
    "UPDATE device_authorizations SET status = 'redeemed' WHERE device_code_hash = ? AND status = 'approved' AND expires_at > ?",
  ),
  // Both by device_authorizations_pending.
  pending: db.prepare<[string], AuthorizationRow>(`SELECT ${AUTHORIZATION} WHERE user_code = ? AND status = 'pending'`),
  decide: db.prepare<["approved" | "denied", string | null, number, string, number]>(
    `UPDATE device_authorizations SET status = ?, user_id = ?, decided_at = ?
     WHERE user_code = ? AND status = 'pending' AND expires_at > ?`,
  ),
  // The whole table, which is bounded (see authorizations.ts), and only for a code under which nobody waits.
  decided: db
    .prepare<[string], number>(
      "SELECT 1 FROM device_authorizations WHERE user_code = ? AND status <> 'pending' LIMIT 1",
    )
    .pluck(),
  // Both by device_authorizations_by_expiry.
  waiting: db.prepare<[number], AuthorizationRow>(
    `SELECT ${AUTHORIZATION} WHERE expires_at > ? AND status = 'pending' ORDER BY expires_at DESC LIMIT 200`,
  ),
  removeExpired: db.prepare<[number]>(
    `DELETE FROM device_authorizations WHERE rowid IN
       (SELECT rowid FROM device_authorizations WHERE expires_at <= ? ORDER BY expires_at LIMIT 100)`,
  ),
  // By rowid, which grows with the time of their beginning.
  inOrder: db.prepare<[number, number], { row: number; hash: Buffer; ip: string; status: AuthorizationRow["status"] }>(
    `SELECT rowid AS row, device_code_hash AS hash, ip, status FROM device_authorizations WHERE rowid > ? ORDER BY rowid LIMIT ?`,
  ),
  // By the primary key.
  dropWaiting: db.prepare<[Buffer]>(
    "DELETE FROM device_authorizations WHERE device_code_hash = ? AND status = 'pending'",
  ),
  // Counted page by page in the smallest index, which SQLite does without reading the rows.
  count: db.prepare<[], number>("SELECT count(*) FROM device_authorizations").pluck(),
  insertToken: db.prepare<[NewToken]>(
    `INSERT INTO cli_tokens (id, user_id, channel, ip, user_agent, created_at, expires_at)
     VALUES (@id, @userId, @channel, @ip, @userAgent, @createdAt, @expiresAt)`,
  ),
  // By cli_tokens' primary key.
  token: db.prepare<[string], TokenRow>(`${TOKEN} WHERE id = ?`),
  touchToken: db.prepare<[number, string]>("UPDATE cli_tokens SET last_used_at = ? WHERE id = ?"),
  revokeToken: db.prepare<[number, string]>("UPDATE cli_tokens SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL"),
  // The whole table, which is bounded (see authorizations.ts), and only when a password changes.
  withdraw: db.prepare<[string]>(
    "UPDATE device_authorizations SET status = 'denied' WHERE user_id = ? AND status = 'approved'",
  ),
  // By cli_tokens_by_user.
  tokensOf: db.prepare<[string, number], TokenRow>(
    `${TOKEN} WHERE user_id = ? AND revoked_at IS NULL AND expires_at > ? ORDER BY created_at DESC, id DESC`,
  ),
  // The whole table, for the command line.
  tokens: db.prepare<[number], TokenRow>(
    `${TOKEN} WHERE revoked_at IS NULL AND expires_at > ? ORDER BY created_at DESC, id DESC`,
  ),
  // The whole table, which is bounded, for a person who is erased.
  dropAuthorizations: db.prepare<[string]>("DELETE FROM device_authorizations WHERE user_id = ?"),
  // By cli_tokens_by_user.
  dropTokens: db.prepare<[string, number]>(
    "DELETE FROM cli_tokens WHERE id IN (SELECT id FROM cli_tokens WHERE user_id = ? LIMIT ?)",
  ),
}));
