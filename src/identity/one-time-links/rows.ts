import { type Preparer, statements } from "../../platform/store/store.ts";
import type { Role } from "../members/members.ts";

export interface LinkRow {
  readonly id: string;
  readonly tokenHash: Buffer;
  readonly kind: "setup" | "invitation" | "reset";
  readonly teamId: string | null;
  readonly role: Role | null;
  readonly email: string | null;
  readonly userId: string | null;
  readonly createdBy: string | null;
  /** The person with whose rights it works; null for the command line and the program itself. */
  readonly makerId: string | null;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly usedAt: number | null;
  readonly revokedAt: number | null;
}

/** A row of the list of invitations. */
export interface InvitationRow extends LinkRow {
  /** Orders rows of the same millisecond. */
  readonly number: number;
}

const LINK = `id, token_hash AS tokenHash, kind, team_id AS teamId, role, email, user_id AS userId, created_by AS createdBy,
  maker_id AS makerId, created_at AS createdAt, expires_at AS expiresAt, used_at AS usedAt, revoked_at AS revokedAt FROM one_time_links`;

/** Invitations before or after a row, given by its time and number. */
const invitations = (db: Preparer, beyond: "<" | ">", direction: "DESC" | "ASC") =>
  db.prepare<[teamId: string, now: number, createdAt: number, number: number], InvitationRow>(
    `SELECT rowid AS number, ${LINK} WHERE team_id = ? AND kind = 'invitation' AND used_at IS NULL AND revoked_at IS NULL AND expires_at > ?
       AND (created_at, rowid) ${beyond} (?, ?) ORDER BY created_at ${direction}, rowid ${direction}`,
  );

export const rows = statements((db) => ({
  insertLink: db.prepare<[Omit<LinkRow, "usedAt" | "revokedAt">]>(
    `INSERT INTO one_time_links (id, token_hash, kind, team_id, role, email, user_id, created_by, maker_id, created_at, expires_at)
     VALUES (@id, @tokenHash, @kind, @teamId, @role, @email, @userId, @createdBy, @makerId, @createdAt, @expiresAt)`,
  ),
  // By one_time_links' unique index on token_hash.
  link: db.prepare<[Buffer], LinkRow>(`SELECT ${LINK} WHERE token_hash = ?`),
  // Both by one_time_links_by_team.
  invitations: { older: invitations(db, "<", "DESC"), newer: invitations(db, ">", "ASC") },
  // A walk of the table, which people fill by hand.
  addressed: db.prepare<[number], LinkRow>(
    `SELECT ${LINK} WHERE kind = 'invitation' AND email IS NOT NULL AND used_at IS NULL AND revoked_at IS NULL AND expires_at > ?`,
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
  // A walk of the table, for a person who is erased.
  named: db.prepare<[string], { id: string; email: string | null; userId: string | null }>(
    "SELECT id, email, user_id AS userId FROM one_time_links WHERE user_id = ? OR email IS NOT NULL",
  ),
  drop: db.prepare<[string]>("DELETE FROM one_time_links WHERE id = ?"),
}));
