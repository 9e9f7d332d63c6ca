-- The second factor: authenticator apps, passkeys and recovery codes; teams that demand one; and which sign-ins had one.
CREATE TABLE second_factors (
  id             TEXT PRIMARY KEY,
  user_id        TEXT NOT NULL REFERENCES users (id),
  kind           TEXT NOT NULL CHECK (kind IN ('totp', 'passkey')),
  name           TEXT NOT NULL,
  secret         BLOB,
  last_step      INTEGER,
  credential_id  BLOB UNIQUE,
  public_key     BLOB,
  sign_count     INTEGER,
  created_at     INTEGER NOT NULL,
  last_used_at   INTEGER
) STRICT;
CREATE INDEX second_factors_by_user ON second_factors (user_id, created_at);

CREATE TABLE recovery_codes (
  user_id    TEXT NOT NULL REFERENCES users (id),
  code_hash  BLOB NOT NULL,
  used_at    INTEGER,
  PRIMARY KEY (user_id, code_hash)
) STRICT, WITHOUT ROWID;

ALTER TABLE teams ADD COLUMN second_factor_since INTEGER;
ALTER TABLE web_sessions ADD COLUMN second_factor_at INTEGER;
