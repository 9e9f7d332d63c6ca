import { statements } from "../../platform/store/store.ts";

export interface TokenRow {
  readonly id: string;
  readonly userId: string;
  readonly name: string;
  readonly scope: string;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
}

const TOKEN = `SELECT id, user_id AS userId, name, scope, created_at AS createdAt, expires_at AS expiresAt,
  last_used_at AS lastUsedAt, revoked_at AS revokedAt FROM read_tokens`;
export const rows = statements((db) => ({
  insertToken: db.prepare<[string, Buffer, string, string, string, number, number]>(
    "INSERT INTO read_tokens (id, token_hash, user_id, name, scope, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
  ),
  // By read_tokens' unique index on token_hash.
  byToken: db.prepare<[Buffer], TokenRow>(`${TOKEN} WHERE token_hash = ?`),
  // By primary key, as is all that names an id.
  token: db.prepare<[string], TokenRow>(`${TOKEN} WHERE id = ?`),
  // Both by read_tokens_by_user.
  tokensOf: db.prepare<[string], TokenRow>(`${TOKEN} WHERE user_id = ? ORDER BY created_at DESC, rowid DESC`),
  liveCount: db
    .prepare<[string, number], number>(
      "SELECT count(*) FROM read_tokens WHERE user_id = ? AND revoked_at IS NULL AND expires_at > ?",
    )
    .pluck(),
  tokens: db.prepare<[], TokenRow>(`${TOKEN} ORDER BY created_at DESC, id DESC`),
  revoke: db.prepare<[number, string]>("UPDATE read_tokens SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL"),
  touch: db.prepare<[number, string]>("UPDATE read_tokens SET last_used_at = ? WHERE id = ? AND revoked_at IS NULL"),
  // By read_tokens_by_user. The scope names repositories and paths, so it is emptied; the token is revoked, so that an empty scope opens
  // nothing.
  erase: db.prepare<[{ userId: string; now: number; limit: number }]>(
    `UPDATE read_tokens SET name = 'erased', scope = '{"teams":[],"repos":[],"paths":[],"kinds":[]}', revoked_at = coalesce(revoked_at, @now)
     WHERE id IN (SELECT id FROM read_tokens WHERE user_id = @userId AND (name <> 'erased' OR revoked_at IS NULL) LIMIT @limit)`,
  ),
}));
