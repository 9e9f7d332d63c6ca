import { statements } from "../../platform/store/store.ts";

/** Somebody as an issuer's directory has them. */
export interface UserRecord {
  readonly id: string;
  readonly issuerId: string;
  /** The account that they have here. */
  readonly userId: string;
  readonly userName: string;
  /** `userName` as it is compared. */
  readonly userKey: string;
  readonly externalId: string | null;
  readonly givenName: string | null;
  readonly familyName: string | null;
  readonly formatted: string | null;
  readonly displayName: string | null;
  readonly displayKey: string | null;
  /** Whether the directory closed the account: only then it may open it again. */
  readonly closed: 0 | 1;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** When the directory removed them. */
  readonly endedAt: number | null;
}

export interface GroupRecord {
  readonly id: string;
  readonly issuerId: string;
  readonly externalId: string | null;
  readonly displayName: string;
  readonly displayKey: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface TokenRow {
  readonly id: string;
  readonly issuerId: string;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
}

/** Parameters for a page of an issuer's records with a value; of all records without one. */
export interface Selection {
  readonly issuerId: string;
  readonly value: string | null;
  readonly limit: number;
  readonly offset: number;
}

/** Queries by one column: the number of matching records, and a page of them in the order of their ids. */
export interface LookUp<Record> {
  readonly count: { get(selection: Selection): number | undefined };
  readonly page: { all(selection: Selection): Record[] };
}

const USER = `id, issuer_id AS issuerId, user_id AS userId, user_name AS userName, user_key AS userKey, external_id AS externalId,
  given_name AS givenName, family_name AS familyName, formatted, display_name AS displayName, display_key AS displayKey, closed,
  created_at AS createdAt, updated_at AS updatedAt, ended_at AS endedAt`;
const GROUP = `id, issuer_id AS issuerId, external_id AS externalId, display_name AS displayName, display_key AS displayKey,
  created_at AS createdAt, updated_at AS updatedAt`;
const TOKEN =
  "id, issuer_id AS issuerId, created_at AS createdAt, last_used_at AS lastUsedAt, revoked_at AS revokedAt FROM scim_tokens";

export const rows = statements((db) => {
  const lookUp = <Record>(columns: string, chosen: string): LookUp<Record> => ({
    count: db.prepare<[Selection], number>(`SELECT count(*) FROM ${chosen}`).pluck(),
    page: db.prepare<[Selection], Record>(`SELECT ${columns} FROM ${chosen} ORDER BY id LIMIT @limit OFFSET @offset`),
  });
  const users = (where: string) =>
    lookUp<UserRecord>(USER, `scim_users WHERE issuer_id = @issuerId AND ended_at IS NULL AND ${where}`);
  const groups = (where: string) => lookUp<GroupRecord>(GROUP, `scim_groups WHERE issuer_id = @issuerId AND ${where}`);
  return {
    insertToken: db.prepare<[string, string, Buffer, number]>(
      "INSERT INTO scim_tokens (id, issuer_id, token_hash, created_at) VALUES (?, ?, ?, ?)",
    ),
    // By scim_tokens' unique index on token_hash.
    byToken: db.prepare<[Buffer], TokenRow>(`SELECT ${TOKEN} WHERE token_hash = ? AND revoked_at IS NULL`),
    liveToken: db.prepare<[string], number>("SELECT 1 FROM scim_tokens WHERE id = ? AND revoked_at IS NULL").pluck(),
    // By scim_tokens_by_issuer.
    tokensOf: db.prepare<[string], TokenRow>(`SELECT ${TOKEN} WHERE issuer_id = ? ORDER BY created_at DESC, id DESC`),
    revokeToken: db.prepare<[number, string, string]>(
      "UPDATE scim_tokens SET revoked_at = ? WHERE id = ? AND issuer_id = ? AND revoked_at IS NULL",
    ),
    touchToken: db.prepare<[number, string]>("UPDATE scim_tokens SET last_used_at = ? WHERE id = ?"),
    // Each by the index of its column; that of all by scim_users_live.
    users: {
      all: users("@value IS NULL"),
      username: users("user_key = @value"),
      externalid: users("external_id = @value"),
      displayname: users("display_key = @value"),
      id: users("id = @value"),
      account: users("user_id = @value"),
    },
    groups: {
      all: groups("@value IS NULL"),
      externalid: groups("external_id = @value"),
      displayname: groups("display_key = @value"),
      id: groups("id = @value"),
    },
    // By primary key, as is all that names an id.
    user: db.prepare<[string, string], UserRecord>(
      `SELECT ${USER} FROM scim_users WHERE id = ? AND issuer_id = ? AND ended_at IS NULL`,
    ),
    // By scim_users_by_user.
    recordsOf: db.prepare<[string], UserRecord>(`SELECT ${USER} FROM scim_users WHERE user_id = ?`),
    putUser: db.prepare<[UserRecord & { pending: 0 | 1 }]>(
      `INSERT INTO scim_users (id, issuer_id, user_id, user_name, user_key, external_id, given_name, family_name, formatted, display_name,
         display_key, closed, pending, created_at, updated_at, ended_at)
       VALUES (@id, @issuerId, @userId, @userName, @userKey, @externalId, @givenName, @familyName, @formatted, @displayName, @displayKey,
         @closed, @pending, @createdAt, @updatedAt, @endedAt)
       ON CONFLICT (id) DO UPDATE SET user_name = excluded.user_name, user_key = excluded.user_key, external_id = excluded.external_id,
         given_name = excluded.given_name, family_name = excluded.family_name, formatted = excluded.formatted,
         display_name = excluded.display_name, display_key = excluded.display_key, closed = excluded.closed,
         updated_at = excluded.updated_at, ended_at = excluded.ended_at`,
    ),
    forgetClosed: db.prepare<[string]>("UPDATE scim_users SET closed = 0 WHERE user_id = ?"),
    dropUser: db.prepare<[string]>("DELETE FROM scim_users WHERE id = ?"),
    setPending: db.prepare<[0 | 1, string]>("UPDATE scim_users SET pending = ? WHERE id = ?"),
    // By the primary key, for each that scim_members has of the group.
    setMembersPending: db.prepare<[string]>(
      "UPDATE scim_users SET pending = 1 WHERE pending = 0 AND id IN (SELECT member_id FROM scim_members WHERE group_id = ?)",
    ),
    setAllPending: db.prepare<[string]>(
      "UPDATE scim_users SET pending = 1 WHERE issuer_id = ? AND ended_at IS NULL AND pending = 0",
    ),
    // Both by scim_users_pending.
    pending: db.prepare<[string, number], UserRecord>(
      `SELECT ${USER} FROM scim_users WHERE issuer_id = ? AND pending = 1 AND ended_at IS NULL ORDER BY id LIMIT ?`,
    ),
    pendingIssuers: db.prepare<[], string>("SELECT DISTINCT issuer_id FROM scim_users WHERE pending = 1").pluck(),
    group: db.prepare<[string, string], GroupRecord>(`SELECT ${GROUP} FROM scim_groups WHERE id = ? AND issuer_id = ?`),
    putGroup: db.prepare<[GroupRecord]>(
      `INSERT INTO scim_groups (id, issuer_id, external_id, display_name, display_key, created_at, updated_at)
       VALUES (@id, @issuerId, @externalId, @displayName, @displayKey, @createdAt, @updatedAt)
       ON CONFLICT (id) DO UPDATE SET external_id = excluded.external_id, display_name = excluded.display_name,
         display_key = excluded.display_key, updated_at = excluded.updated_at`,
    ),
    dropGroup: db.prepare<[string]>("DELETE FROM scim_groups WHERE id = ?"),
    memberIds: db.prepare<[string], string>("SELECT member_id FROM scim_members WHERE group_id = ?").pluck(),
    members: db.prepare<[string], { id: string; userName: string }>(
      `SELECT member_id AS id, user_name AS userName FROM scim_members JOIN scim_users ON scim_users.id = member_id
       WHERE group_id = ? ORDER BY member_id`,
    ),
    memberCount: db.prepare<[string], number>("SELECT count(*) FROM scim_members WHERE group_id = ?").pluck(),
    addMember: db.prepare<[string, string]>("INSERT INTO scim_members (group_id, member_id) VALUES (?, ?)"),
    dropMember: db.prepare<[string, string]>("DELETE FROM scim_members WHERE group_id = ? AND member_id = ?"),
    dropMembers: db.prepare<[string]>("DELETE FROM scim_members WHERE group_id = ?"),
    // By scim_members_by_member.
    dropMemberships: db.prepare<[string]>("DELETE FROM scim_members WHERE member_id = ?"),
    groupsOf: db.prepare<[string, number], GroupRecord>(
      `SELECT ${GROUP} FROM scim_groups WHERE id IN (SELECT group_id FROM scim_members WHERE member_id = ?) ORDER BY id LIMIT ?`,
    ),
    anyGroup: db.prepare<[string], number>("SELECT 1 FROM scim_groups WHERE issuer_id = ? LIMIT 1").pluck(),
    forgetMembers: db.prepare<[string]>(
      "DELETE FROM scim_members WHERE group_id IN (SELECT id FROM scim_groups WHERE issuer_id = ?)",
    ),
    forgetGroups: db.prepare<[string]>("DELETE FROM scim_groups WHERE issuer_id = ?"),
    forgetUsers: db.prepare<[string]>("DELETE FROM scim_users WHERE issuer_id = ?"),
    forgetTokens: db.prepare<[string]>("DELETE FROM scim_tokens WHERE issuer_id = ?"),
  };
});
