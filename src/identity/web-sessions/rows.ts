import { statements } from "../../platform/store/store.ts";

export interface SessionRow {
  readonly id: string;
  readonly userId: string;
  readonly teamId: string | null;
  readonly ip: string;
  readonly userAgent: string | null;
  readonly createdAt: number;
  readonly lastSeenAt: number;
  readonly expiresAt: number;
  readonly endedAt: number | null;
  /** The name of the issuer of single sign-on, or `proxy`; null for a password or a link. */
  readonly method: string | null;
  /** When the person proved a second factor in it; null for never. */
  readonly secondFactorAt: number | null;
}

const SESSION = `id, user_id AS userId, team_id AS teamId, ip, user_agent AS userAgent, created_at AS createdAt,
  last_seen_at AS lastSeenAt, expires_at AS expiresAt, ended_at AS endedAt, method, second_factor_at AS secondFactorAt`;

export const rows = statements((db) => ({
  insert: db.prepare<[Omit<SessionRow, "endedAt"> & { tokenHash: Buffer }]>(
    `INSERT INTO web_sessions (id, token_hash, user_id, team_id, ip, user_agent, created_at, last_seen_at, expires_at, method,
       second_factor_at)
     VALUES (@id, @tokenHash, @userId, @teamId, @ip, @userAgent, @createdAt, @lastSeenAt, @expiresAt, @method, @secondFactorAt)`,
  ),
  // By web_sessions' unique index on token_hash.
  byToken: db.prepare<[Buffer], SessionRow>(`SELECT ${SESSION} FROM web_sessions WHERE token_hash = ?`),
  touch: db.prepare<[number, string, string]>("UPDATE web_sessions SET last_seen_at = ?, ip = ? WHERE id = ?"),
  setSecondFactor: db.prepare<[number, string]>("UPDATE web_sessions SET second_factor_at = ? WHERE id = ?"),
  // By web_sessions_by_user.
  forgetSecondFactor: db.prepare<[string]>("UPDATE web_sessions SET second_factor_at = NULL WHERE user_id = ?"),
  setTeam: db.prepare<[string | null, string]>("UPDATE web_sessions SET team_id = ? WHERE id = ?"),
  end: db.prepare<[number, string, string]>(
    "UPDATE web_sessions SET ended_at = ? WHERE id = ? AND user_id = ? AND ended_at IS NULL",
  ),
  endOne: db.prepare<[number, string]>("UPDATE web_sessions SET ended_at = ? WHERE id = ? AND ended_at IS NULL"),
  // By web_sessions_by_user.
  endAll: db.prepare<[number, string, string]>(
    "UPDATE web_sessions SET ended_at = ? WHERE user_id = ? AND id <> ? AND ended_at IS NULL",
  ),
  endAllBy: db.prepare<[number, string]>("UPDATE web_sessions SET ended_at = ? WHERE method = ? AND ended_at IS NULL"),
  endOfBy: db.prepare<[number, string, string]>(
    "UPDATE web_sessions SET ended_at = ? WHERE method = ? AND user_id = ? AND ended_at IS NULL",
  ),
  live: db.prepare<[string, number, number], SessionRow>(
    `SELECT ${SESSION} FROM web_sessions WHERE user_id = ? AND ended_at IS NULL AND expires_at > ? AND last_seen_at > ?
     ORDER BY last_seen_at DESC`,
  ),
  // By web_sessions_by_user.
  every: db.prepare<[string], SessionRow>(
    `SELECT ${SESSION} FROM web_sessions WHERE user_id = ? ORDER BY created_at, id`,
  ),
  lastSeen: db.prepare<[string], number | null>("SELECT max(last_seen_at) FROM web_sessions WHERE user_id = ?").pluck(),
  addresses: db.prepare<[string], string>("SELECT DISTINCT ip FROM web_sessions WHERE user_id = ?").pluck(),
  lastTeam: db
    .prepare<[string], string | null>(
      "SELECT team_id FROM web_sessions WHERE user_id = ? ORDER BY created_at DESC LIMIT 1",
    )
    .pluck(),
  // Both by web_sessions_by_user.
  drop: db.prepare<[string, number]>(
    "DELETE FROM web_sessions WHERE id IN (SELECT id FROM web_sessions WHERE user_id = ? LIMIT ?)",
  ),
  dropOld: db.prepare<[{ userId: string; until: number; now: number; limit: number }]>(
    `DELETE FROM web_sessions WHERE id IN (
       SELECT id FROM web_sessions WHERE user_id = @userId AND last_seen_at <= @until AND (ended_at IS NOT NULL OR expires_at <= @now)
       LIMIT @limit)`,
  ),
}));
