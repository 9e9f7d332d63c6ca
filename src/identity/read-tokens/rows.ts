import { statements } from "../../platform/store/store.ts";

export interface ReaderRow {
  readonly tokenId: string;
  readonly userId: string;
  readonly scope: string;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  readonly disabledAt: number | null;
}

export interface TokenRow {
  readonly id: string;
  readonly userId: string;
  readonly name: string;
  readonly scope: string;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
  readonly readsToday: number;
}

/** A read, for the token's owner. */
export interface Read {
  readonly id: number;
  readonly tokenId: string;
  readonly tokenName: string;
  readonly at: number;
  /** After redaction. */
  readonly question: string;
  /** Sections found, and how many of them were shown. */
  readonly total: number;
  readonly shown: number;
  readonly ip: string;
}

const TOKEN = `r.id, r.user_id AS userId, r.name, r.scope, r.created_at AS createdAt, r.expires_at AS expiresAt,
  r.last_used_at AS lastUsedAt, r.revoked_at AS revokedAt, coalesce(d.reads, 0) AS readsToday
  FROM read_tokens r LEFT JOIN token_read_days d ON d.token_id = r.id AND d.day = ?`;
const READ = `a.id, a.token_id AS tokenId, r.name AS tokenName, a.at, a.question, a.total, a.shown, a.ip
  FROM token_reads a CROSS JOIN read_tokens r ON r.id = a.token_id`;

/** Tokens and users by primary key where nothing else is said; token_read_days always by its own. */
export const rows = statements((db) => ({
  insertToken: db.prepare<[string, Buffer, string, string, string, number, number]>(
    "INSERT INTO read_tokens (id, token_hash, user_id, name, scope, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
  ),
  // By read_tokens' unique index on token_hash.
  reader: db.prepare<[Buffer], ReaderRow>(
    `SELECT r.id AS tokenId, r.user_id AS userId, r.scope, r.expires_at AS expiresAt, r.revoked_at AS revokedAt,
       u.disabled_at AS disabledAt
     FROM read_tokens r JOIN users u ON u.id = r.user_id WHERE r.token_hash = ?`,
  ),
  token: db.prepare<[number, string], TokenRow>(`SELECT ${TOKEN} WHERE r.id = ?`),
  // Both by read_tokens_by_user.
  tokensOf: db.prepare<[number, string], TokenRow>(
    `SELECT ${TOKEN} WHERE r.user_id = ? ORDER BY r.created_at DESC, r.rowid DESC`,
  ),
  liveCount: db
    .prepare<[string, number], number>(
      "SELECT count(*) FROM read_tokens WHERE user_id = ? AND revoked_at IS NULL AND expires_at > ?",
    )
    .pluck(),
  tokens: db.prepare<[number], TokenRow>(`SELECT ${TOKEN} ORDER BY r.created_at DESC, r.id DESC`),
  revoke: db.prepare<[number, string]>("UPDATE read_tokens SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL"),
  touch: db.prepare<[number, string]>("UPDATE read_tokens SET last_used_at = ? WHERE id = ? AND revoked_at IS NULL"),
  insertRead: db.prepare<[string, string, number, string, number, number, string]>(
    "INSERT INTO token_reads (token_id, user_id, at, question, total, shown, ip) VALUES (?, ?, ?, ?, ?, ?, ?)",
  ),
  // Newest first: by token_reads_by_user, and by token_reads_by_token.
  reads: db.prepare<[string, number, number], Read>(
    `SELECT ${READ} WHERE a.user_id = ? AND a.id < ? ORDER BY a.id DESC LIMIT ?`,
  ),
  readsOfToken: db.prepare<[string, string, number, number], Read>(
    `SELECT ${READ} WHERE a.token_id = ? AND +a.user_id = ? AND a.id < ? ORDER BY a.id DESC LIMIT ?`,
  ),
  readsOn: db
    .prepare<[string, number], number>("SELECT reads FROM token_read_days WHERE token_id = ? AND day = ?")
    .pluck(),
  // Changes nothing once the cap is reached.
  countRead: db
    .prepare<[string, number, number], number>(
      `INSERT INTO token_read_days (token_id, day, reads) VALUES (?, ?, 1)
       ON CONFLICT (token_id, day) DO UPDATE SET reads = reads + 1 WHERE reads < ? RETURNING reads`,
    )
    .pluck(),
  dropDaysBefore: db.prepare<[string, number]>("DELETE FROM token_read_days WHERE token_id = ? AND day < ?"),
}));
