import { statements } from "../../platform/store/store.ts";

export type Role = "owner" | "admin" | "member";

export interface User {
  readonly id: string;
  readonly email: string;
  readonly emailKey: string;
  readonly name: string | null;
  readonly passwordHash: string | null;
  readonly operator: 0 | 1;
  readonly createdAt: number;
  readonly disabledAt: number | null;
}

export interface Member {
  readonly userId: string;
  readonly email: string;
  readonly name: string | null;
  readonly operator: 0 | 1;
  readonly role: Role;
  /** When they came into the team. */
  readonly createdAt: number;
  readonly disabledAt: number | null;
  readonly lastSeenAt: number | null;
}

export interface Membership {
  readonly teamId: string;
  readonly teamName: string;
  readonly role: Role;
}

export interface LinkRow {
  readonly id: string;
  readonly tokenHash: Buffer;
  readonly kind: "setup" | "invitation" | "reset";
  readonly teamId: string | null;
  readonly teamName: string | null;
  readonly role: Role | null;
  readonly email: string | null;
  readonly userId: string | null;
  readonly createdBy: string | null;
  /** The person whose right it lends; null for the command line and the program itself. */
  readonly makerId: string | null;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly usedAt: number | null;
  readonly revokedAt: number | null;
}

const USER = `id, email, email_key AS emailKey, name, password_hash AS passwordHash, operator, created_at AS createdAt, disabled_at AS disabledAt`;
const LINK = `l.id, l.token_hash AS tokenHash, l.kind, l.team_id AS teamId, t.name AS teamName, l.role, l.email, l.user_id AS userId,
  l.created_by AS createdBy, l.maker_id AS makerId, l.created_at AS createdAt, l.expires_at AS expiresAt, l.used_at AS usedAt, l.revoked_at AS revokedAt
  FROM one_time_links l LEFT JOIN teams t ON t.id = l.team_id`;

const MEMBER = `SELECT u.id AS userId, u.email, u.name, u.operator, m.role, m.created_at AS createdAt, u.disabled_at AS disabledAt,
    (SELECT max(s.last_seen_at) FROM web_sessions s WHERE s.user_id = u.id) AS lastSeenAt
  FROM memberships m JOIN users u ON u.id = m.user_id`;

export const rows = statements((db) => ({
  insertUser: db.prepare<[User]>(
    `INSERT INTO users (id, email, email_key, name, password_hash, operator, created_at, disabled_at)
     VALUES (@id, @email, @emailKey, @name, @passwordHash, @operator, @createdAt, @disabledAt)`,
  ),
  // Both by unique index: the primary key, and users.email_key.
  userById: db.prepare<[string], User>(`SELECT ${USER} FROM users WHERE id = ?`),
  userByEmail: db.prepare<[string], User>(`SELECT ${USER} FROM users WHERE email_key = ?`),
  users: db.prepare<[], User>(`SELECT ${USER} FROM users ORDER BY created_at, id`),
  // In the order of users.email_key's unique index, from the address given on.
  usersFrom: db.prepare<[{ after: string; like: string | null; limit: number }], User>(
    `SELECT ${USER} FROM users WHERE email_key > @after
       AND (@like IS NULL OR email_key LIKE @like ESCAPE '\\' OR name LIKE @like ESCAPE '\\' OR id LIKE @like ESCAPE '\\')
     ORDER BY email_key LIMIT @limit`,
  ),
  // By web_sessions_by_user.
  lastSeen: db.prepare<[string], number | null>("SELECT max(last_seen_at) FROM web_sessions WHERE user_id = ?").pluck(),
  anyUser: db.prepare<[], number>("SELECT 1 FROM users LIMIT 1").pluck(),
  otherOperators: db
    .prepare<[string], number>("SELECT count(*) FROM users WHERE operator = 1 AND disabled_at IS NULL AND id <> ?")
    .pluck(),
  setPassword: db.prepare<[string, string]>("UPDATE users SET password_hash = ? WHERE id = ?"),
  setName: db.prepare<[string | null, string]>("UPDATE users SET name = ? WHERE id = ?"),
  setDisabled: db.prepare<[number | null, string]>("UPDATE users SET disabled_at = ? WHERE id = ?"),
  setOperator: db.prepare<[number, string]>("UPDATE users SET operator = ? WHERE id = ?"),
  putMember: db.prepare<[string, string, Role, number]>(
    `INSERT INTO memberships (team_id, user_id, role, created_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (team_id, user_id) DO UPDATE SET role = excluded.role`,
  ),
  removeMember: db.prepare<[string, string]>("DELETE FROM memberships WHERE team_id = ? AND user_id = ?"),
  // By memberships' primary key.
  role: db.prepare<[string, string], Role>("SELECT role FROM memberships WHERE team_id = ? AND user_id = ?").pluck(),
  members: db.prepare<[{ teamId: string; like: string | null; limit: number }], Member>(
    `${MEMBER} WHERE m.team_id = @teamId AND (@like IS NULL OR u.email_key LIKE @like ESCAPE '\\' OR u.name LIKE @like ESCAPE '\\')
     ORDER BY m.role = 'owner' DESC, m.role = 'admin' DESC, u.email_key LIMIT @limit`,
  ),
  member: db.prepare<[string, string], Member>(`${MEMBER} WHERE m.team_id = ? AND m.user_id = ?`),
  memberCount: db.prepare<[string], number>("SELECT count(*) FROM memberships WHERE team_id = ?").pluck(),
  otherOwners: db
    .prepare<[string, string], number>(
      `SELECT count(*) FROM memberships m JOIN users u ON u.id = m.user_id
       WHERE m.team_id = ? AND m.role = 'owner' AND u.disabled_at IS NULL AND u.id <> ?`,
    )
    .pluck(),
  // By memberships_by_user.
  memberships: db.prepare<[string], Membership>(
    `SELECT m.team_id AS teamId, t.name AS teamName, m.role FROM memberships m JOIN teams t ON t.id = m.team_id
     WHERE m.user_id = ? ORDER BY t.name`,
  ),
  insertLink: db.prepare<[Omit<LinkRow, "usedAt" | "revokedAt" | "teamName">]>(
    `INSERT INTO one_time_links (id, token_hash, kind, team_id, role, email, user_id, created_by, maker_id, created_at, expires_at)
     VALUES (@id, @tokenHash, @kind, @teamId, @role, @email, @userId, @createdBy, @makerId, @createdAt, @expiresAt)`,
  ),
  // By one_time_links' unique index on token_hash.
  link: db.prepare<[Buffer], LinkRow>(`SELECT ${LINK} WHERE l.token_hash = ?`),
  // By one_time_links_by_team.
  invitations: db.prepare<[string, number], LinkRow>(
    `SELECT ${LINK} WHERE l.team_id = ? AND l.kind = 'invitation' AND l.used_at IS NULL AND l.revoked_at IS NULL AND l.expires_at > ?
     ORDER BY l.created_at DESC LIMIT 200`,
  ),
  useLink: db.prepare<[number, string]>(
    "UPDATE one_time_links SET used_at = ? WHERE id = ? AND used_at IS NULL AND revoked_at IS NULL",
  ),
  revokeInvitation: db.prepare<[number, string, string]>(
    "UPDATE one_time_links SET revoked_at = ? WHERE id = ? AND team_id = ? AND kind = 'invitation' AND used_at IS NULL AND revoked_at IS NULL",
  ),
  revokeLinksOf: db.prepare<[number, "setup" | "reset", string | null, string | null]>(
    "UPDATE one_time_links SET revoked_at = ? WHERE kind = ? AND (? IS NULL OR user_id = ?) AND used_at IS NULL AND revoked_at IS NULL",
  ),
}));
