import { statements } from "../../platform/store/store.ts";

/** A second factor of somebody. */
export interface FactorRow {
  readonly id: string;
  readonly userId: string;
  readonly kind: "totp" | "passkey";
  /** The name that its person gave it. */
  readonly name: string;
  /** Secret of an authenticator app. */
  readonly secret: Buffer | null;
  /** Codes up to this step are used up. */
  readonly lastStep: number | null;
  readonly credentialId: Buffer | null;
  readonly publicKey: Buffer | null;
  readonly signCount: number | null;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
}

const FACTOR = `id, user_id AS userId, kind, name, secret, last_step AS lastStep, credential_id AS credentialId, public_key AS publicKey,
  sign_count AS signCount, created_at AS createdAt, last_used_at AS lastUsedAt FROM second_factors`;

export const rows = statements((db) => ({
  insert: db.prepare<[FactorRow]>(
    `INSERT INTO second_factors (id, user_id, kind, name, secret, last_step, credential_id, public_key, sign_count, created_at, last_used_at)
     VALUES (@id, @userId, @kind, @name, @secret, @lastStep, @credentialId, @publicKey, @signCount, @createdAt, @lastUsedAt)`,
  ),
  // By second_factors_by_user.
  ofUser: db.prepare<[string], FactorRow>(`SELECT ${FACTOR} WHERE user_id = ? ORDER BY created_at`),
  byCredential: db.prepare<[Buffer], FactorRow>(`SELECT ${FACTOR} WHERE credential_id = ?`),
  useStep: db.prepare<[{ id: string; step: number; now: number }]>(
    "UPDATE second_factors SET last_step = @step, last_used_at = @now WHERE id = @id",
  ),
  useKey: db.prepare<[{ id: string; signCount: number; now: number }]>(
    "UPDATE second_factors SET sign_count = @signCount, last_used_at = @now WHERE id = @id",
  ),
  remove: db.prepare<[string, string]>("DELETE FROM second_factors WHERE id = ? AND user_id = ?"),
  removeAll: db.prepare<[string]>("DELETE FROM second_factors WHERE user_id = ?"),
  insertCode: db.prepare<[string, Buffer]>("INSERT INTO recovery_codes (user_id, code_hash) VALUES (?, ?)"),
  useCode: db.prepare<[number, string, Buffer]>(
    "UPDATE recovery_codes SET used_at = ? WHERE user_id = ? AND code_hash = ? AND used_at IS NULL",
  ),
  codesLeft: db
    .prepare<[string], number>("SELECT count(*) FROM recovery_codes WHERE user_id = ? AND used_at IS NULL")
    .pluck(),
  removeCodes: db.prepare<[string]>("DELETE FROM recovery_codes WHERE user_id = ?"),
}));
