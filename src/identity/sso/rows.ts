import { statements } from "../../platform/store/store.ts";
import type { Role } from "../members/members.ts";

/** An issuer as it is stored. */
export interface IssuerRow {
  readonly id: string;
  /** In addresses and on the command line: lower-case letters, digits, hyphens. */
  readonly name: string;
  /** Its issuer identifier, as it stands in its tokens (OpenID Connect Discovery 1.0, section 4). */
  readonly issuer: string;
  readonly clientId: string;
  /** Null for a public client, which proves itself by PKCE alone. */
  readonly clientSecret: string | null;
  /** On the button of the sign-in page. */
  readonly label: string;
  /** Requested beside `openid`, separated by spaces. */
  readonly scopes: string;
  /** The claim that lists a person's groups. */
  readonly groupsClaim: string;
  /** A JSON list of domains, in lower case. */
  readonly domains: string;
  readonly jit: 0 | 1;
  readonly trustEmail: 0 | 1;
  /** How long a sign-in lasts before the issuer is asked again. */
  readonly sessionHours: number;
  readonly createdAt: number;
}

/** The team and role that a group of the issuer gives. */
export interface GroupRow {
  /** `*` for everybody whom the issuer vouches for. */
  readonly groupName: string;
  readonly teamId: string;
  readonly role: Role;
}

export interface IdentityRow {
  readonly issuerId: string;
  readonly subject: string;
  readonly userId: string;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
}

const ISSUER = `id, name, issuer, client_id AS clientId, client_secret AS clientSecret, label, scopes, groups_claim AS groupsClaim, domains,
  jit, trust_email AS trustEmail, session_hours AS sessionHours, created_at AS createdAt FROM sso_issuers`;
const IDENTITY = `issuer_id AS issuerId, subject, user_id AS userId, created_at AS createdAt, last_used_at AS lastUsedAt
  FROM sso_identities`;

export const rows = statements((db) => ({
  insertIssuer: db.prepare<[IssuerRow]>(
    `INSERT INTO sso_issuers (id, name, issuer, client_id, client_secret, label, scopes, groups_claim, domains, jit, trust_email,
       session_hours, created_at)
     VALUES (@id, @name, @issuer, @clientId, @clientSecret, @label, @scopes, @groupsClaim, @domains, @jit, @trustEmail, @sessionHours,
       @createdAt)`,
  ),
  updateIssuer: db.prepare<[IssuerRow]>(
    `UPDATE sso_issuers SET issuer = @issuer, client_id = @clientId, client_secret = @clientSecret, label = @label, scopes = @scopes,
       groups_claim = @groupsClaim, domains = @domains, jit = @jit, trust_email = @trustEmail, session_hours = @sessionHours
     WHERE id = @id`,
  ),
  removeIssuer: db.prepare<[string]>("DELETE FROM sso_issuers WHERE id = ?"),
  issuers: db.prepare<[], IssuerRow>(`SELECT ${ISSUER} ORDER BY name`),
  // Both by unique index: on name, and the primary key.
  issuerByName: db.prepare<[string], IssuerRow>(`SELECT ${ISSUER} WHERE name = ?`),
  issuerById: db.prepare<[string], IssuerRow>(`SELECT ${ISSUER} WHERE id = ?`),
  insertGroup: db.prepare<[string, string, string, Role]>(
    "INSERT INTO sso_groups (issuer_id, group_name, team_id, role) VALUES (?, ?, ?, ?)",
  ),
  removeGroups: db.prepare<[string]>("DELETE FROM sso_groups WHERE issuer_id = ?"),
  groups: db.prepare<[string], GroupRow>(
    "SELECT group_name AS groupName, team_id AS teamId, role FROM sso_groups WHERE issuer_id = ? ORDER BY group_name, team_id",
  ),
  // By sso_identities' primary key.
  identity: db.prepare<[string, string], IdentityRow>(`SELECT ${IDENTITY} WHERE issuer_id = ? AND subject = ?`),
  insertIdentity: db.prepare<[string, string, string, number]>(
    "INSERT INTO sso_identities (issuer_id, subject, user_id, created_at) VALUES (?, ?, ?, ?)",
  ),
  touchIdentity: db.prepare<[number, string, string]>(
    "UPDATE sso_identities SET last_used_at = ? WHERE issuer_id = ? AND subject = ?",
  ),
  // By sso_identities_by_user.
  identitiesOf: db.prepare<[string], IdentityRow>(`SELECT ${IDENTITY} WHERE user_id = ? ORDER BY created_at`),
  identityCount: db.prepare<[string], number>("SELECT count(*) FROM sso_identities WHERE issuer_id = ?").pluck(),
  unlink: db.prepare<[string, string]>("DELETE FROM sso_identities WHERE user_id = ? AND issuer_id = ?"),
  removeIdentities: db.prepare<[string]>("DELETE FROM sso_identities WHERE issuer_id = ?"),
  // By sso_holders' primary key, as the next.
  holders: db
    .prepare<[string, string], string>("SELECT subject FROM sso_holders WHERE user_id = ? AND issuer_id = ?")
    .pluck(),
  isHeld: db.prepare<[string], number>("SELECT 1 FROM sso_holders WHERE user_id = ? LIMIT 1").pluck(),
  insertHolder: db.prepare<[string, string, string]>(
    "INSERT OR IGNORE INTO sso_holders (user_id, issuer_id, subject) VALUES (?, ?, ?)",
  ),
  removeHolders: db.prepare<[string]>("DELETE FROM sso_holders WHERE issuer_id = ?"),
  dropHoldersOf: db.prepare<[string]>("DELETE FROM sso_holders WHERE user_id = ?"),
  dropIdentitiesOf: db.prepare<[string]>("DELETE FROM sso_identities WHERE user_id = ?"),
}));
