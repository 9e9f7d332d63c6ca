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
}

export interface FoundSession extends SessionRow {
  readonly email: string;
  readonly name: string | null;
  readonly operator: 0 | 1;
  readonly disabledAt: number | null;
}

const SESSION = `s.id, s.user_id AS userId, s.team_id AS teamId, s.ip, s.user_agent AS userAgent, s.created_at AS createdAt,
  s.last_seen_at AS lastSeenAt, s.expires_at AS expiresAt, s.ended_at AS endedAt`;

export const rows = statements((db) => ({
  insert: db.prepare<[string, Buffer, string, string | null, string, string | null, number, number, number]>(
    `INSERT INTO web_sessions (id, token_hash, user_id, team_id, ip, user_agent, created_at, last_seen_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ),
  // By sessions' unique index on token_hash, then users' primary key.
  byToken: db.prepare<[Buffer], FoundSession>(
    `SELECT ${SESSION}, u.email, u.name, u.operator, u.disabled_at AS disabledAt
     FROM web_sessions s JOIN users u ON u.id = s.user_id WHERE s.token_hash = ?`,
  ),
  touch: db.prepare<[number, string, string]>("UPDATE web_sessions SET last_seen_at = ?, ip = ? WHERE id = ?"),
  setTeam: db.prepare<[string | null, string]>("UPDATE web_sessions SET team_id = ? WHERE id = ?"),
  end: db.prepare<[number, string, string]>(
    "UPDATE web_sessions SET ended_at = ? WHERE id = ? AND user_id = ? AND ended_at IS NULL",
  ),
  // By web_sessions_by_user.
  endAll: db.prepare<[number, string, string]>(
    "UPDATE web_sessions SET ended_at = ? WHERE user_id = ? AND id <> ? AND ended_at IS NULL",
  ),
  live: db.prepare<[string, number, number], SessionRow>(
    `SELECT ${SESSION} FROM web_sessions s WHERE s.user_id = ? AND s.ended_at IS NULL AND s.expires_at > ? AND s.last_seen_at > ?
     ORDER BY s.last_seen_at DESC`,
  ),
  knownAddress: db
    .prepare<[string, string], number>("SELECT 1 FROM web_sessions WHERE user_id = ? AND ip = ? LIMIT 1")
    .pluck(),
  lastTeam: db
    .prepare<[string], string | null>(
      "SELECT team_id FROM web_sessions WHERE user_id = ? ORDER BY created_at DESC LIMIT 1",
    )
    .pluck(),
}));
