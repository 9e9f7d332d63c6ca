import { statements } from "../../platform/store/store.ts";

export interface TokenRow {
  readonly id: string;
  /** Null for all teams. */
  readonly teamId: string | null;
  /** The person who answers for it; null for nobody. */
  readonly userId: string | null;
  readonly name: string;
  /** A JSON array. */
  readonly scopes: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
}

const TOKEN = `SELECT id, team_id AS teamId, user_id AS userId, name, scopes, created_at AS createdAt, expires_at AS expiresAt,
  last_used_at AS lastUsedAt, revoked_at AS revokedAt FROM api_tokens`;

export const rows = statements((db) => ({
  insertToken: db.prepare<[string, Buffer, string | null, string | null, string, string, number, number]>(
    "INSERT INTO api_tokens (id, token_hash, team_id, user_id, name, scopes, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
  ),
  // By api_tokens' unique index on token_hash.
  byToken: db.prepare<[Buffer], TokenRow>(`${TOKEN} WHERE token_hash = ?`),
  // By primary key, as is all that names an id.
  token: db.prepare<[string], TokenRow>(`${TOKEN} WHERE id = ?`),
  // All by api_tokens_by_team; IS finds those of all teams, too.
  ofTeam: db.prepare<[string | null], TokenRow>(`${TOKEN} WHERE team_id IS ? ORDER BY created_at DESC, rowid DESC`),
  expiring: db.prepare<[string | null, number, number], TokenRow>(
    `${TOKEN} WHERE team_id IS ? AND revoked_at IS NULL AND expires_at > ? AND expires_at < ?`,
  ),
  liveCount: db
    .prepare<[string | null, number], number>(
      "SELECT count(*) FROM api_tokens WHERE team_id IS ? AND revoked_at IS NULL AND expires_at > ?",
    )
    .pluck(),
  // By api_tokens_by_user.
  ofUser: db.prepare<[string], TokenRow>(`${TOKEN} WHERE user_id = ?`),
  // The whole table, for the command line.
  tokens: db.prepare<[], TokenRow>(`${TOKEN} ORDER BY created_at DESC, id DESC`),
  revoke: db.prepare<[number, string]>("UPDATE api_tokens SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL"),
  touch: db.prepare<[number, string]>("UPDATE api_tokens SET last_used_at = ? WHERE id = ? AND revoked_at IS NULL"),
  // By api_tokens_by_user.
  erase: db.prepare<[{ userId: string; now: number; limit: number }]>(
    `UPDATE api_tokens SET name = 'erased', revoked_at = coalesce(revoked_at, @now)
     WHERE id IN (SELECT id FROM api_tokens WHERE user_id = @userId AND (name <> 'erased' OR revoked_at IS NULL) LIMIT @limit)`,
  ),
  // All by api_token_days' primary key.
  countRead: db
    .prepare<[string, number, string], number>(
      `INSERT INTO api_token_days (token_id, day, operation, reads) VALUES (?, ?, ?, 1)
       ON CONFLICT (token_id, day, operation) DO UPDATE SET reads = reads + 1 RETURNING reads`,
    )
    .pluck(),
  readsSince: db.prepare<[string, number], { day: number; operation: string; reads: number }>(
    `SELECT day, operation, reads FROM api_token_days WHERE token_id = ? AND day >= ? ORDER BY day DESC, operation`,
  ),
  dropDaysBefore: db.prepare<[string, number]>("DELETE FROM api_token_days WHERE token_id = ? AND day < ?"),
}));
