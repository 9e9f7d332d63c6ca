import { statements } from "../../platform/store/store.ts";

export type Role = "owner" | "admin" | "member" | "viewer" | "own_only";

/** A person's membership of a team. */
export interface MembershipRow {
  readonly teamId: string;
  readonly userId: string;
  readonly role: Role;
  /** When they came into the team. */
  readonly createdAt: number;
  /** Id of the issuer whose groups put them there; null where a person did. */
  readonly source: string | null;
}

const MEMBERSHIP = "team_id AS teamId, user_id AS userId, role, created_at AS createdAt, source FROM memberships";

export const rows = statements((db) => ({
  putMember: db.prepare<[string, string, Role, number, string | null]>(
    `INSERT INTO memberships (team_id, user_id, role, created_at, source) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (team_id, user_id) DO UPDATE SET role = excluded.role, source = excluded.source`,
  ),
  removeMember: db.prepare<[string, string]>("DELETE FROM memberships WHERE team_id = ? AND user_id = ?"),
  // All by memberships' primary key.
  membership: db.prepare<[string, string], MembershipRow>(`SELECT ${MEMBERSHIP} WHERE team_id = ? AND user_id = ?`),
  ofTeam: db.prepare<[string], MembershipRow>(`SELECT ${MEMBERSHIP} WHERE team_id = ?`),
  ofTeamAfter: db.prepare<[string, string, number], MembershipRow>(
    `SELECT ${MEMBERSHIP} WHERE team_id = ? AND user_id > ? ORDER BY user_id LIMIT ?`,
  ),
  memberCount: db.prepare<[string], number>("SELECT count(*) FROM memberships WHERE team_id = ?").pluck(),
  // By memberships_by_user.
  ofUser: db.prepare<[string], MembershipRow>(`SELECT ${MEMBERSHIP} WHERE user_id = ?`),
  // The whole table.
  fromSource: db.prepare<[string, number], MembershipRow>(`SELECT ${MEMBERSHIP} WHERE source = ? LIMIT ?`),
  // By memberships_by_user.
  removeAllOf: db.prepare<[string, number]>(
    `DELETE FROM memberships WHERE (team_id, user_id) IN (
       SELECT team_id, user_id FROM memberships WHERE user_id = ? LIMIT ?)`,
  ),
}));
