-- Provisioning (SCIM): what an issuer's directory says of people and groups, the tokens it comes with, and addresses that people had.
CREATE TABLE scim_tokens (
  id            TEXT PRIMARY KEY,
  issuer_id     TEXT NOT NULL REFERENCES sso_issuers (id),
  token_hash    BLOB NOT NULL UNIQUE,
  created_at    INTEGER NOT NULL,
  last_used_at  INTEGER,
  revoked_at    INTEGER
) STRICT;
CREATE INDEX scim_tokens_by_issuer ON scim_tokens (issuer_id, created_at);

CREATE TABLE scim_users (
  id            TEXT PRIMARY KEY,
  issuer_id     TEXT NOT NULL REFERENCES sso_issuers (id),
  user_id       TEXT NOT NULL REFERENCES users (id),
  user_name     TEXT NOT NULL,
  user_key      TEXT NOT NULL,
  external_id   TEXT,
  given_name    TEXT,
  family_name   TEXT,
  formatted     TEXT,
  display_name  TEXT,
  display_key   TEXT,
  closed        INTEGER NOT NULL CHECK (closed IN (0, 1)),
  pending       INTEGER NOT NULL CHECK (pending IN (0, 1)),
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL,
  ended_at      INTEGER
) STRICT;
CREATE UNIQUE INDEX scim_users_by_key ON scim_users (issuer_id, user_key) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX scim_users_by_account ON scim_users (issuer_id, user_id) WHERE ended_at IS NULL;
CREATE INDEX scim_users_by_user ON scim_users (user_id);
CREATE INDEX scim_users_by_external ON scim_users (issuer_id, external_id);
CREATE INDEX scim_users_by_display ON scim_users (issuer_id, display_key);
CREATE INDEX scim_users_live ON scim_users (issuer_id, id) WHERE ended_at IS NULL;
CREATE INDEX scim_users_pending ON scim_users (issuer_id, id) WHERE pending = 1;

CREATE TABLE scim_groups (
  id            TEXT PRIMARY KEY,
  issuer_id     TEXT NOT NULL REFERENCES sso_issuers (id),
  external_id   TEXT,
  display_name  TEXT NOT NULL,
  display_key   TEXT NOT NULL,
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX scim_groups_by_issuer ON scim_groups (issuer_id, id);
CREATE UNIQUE INDEX scim_groups_by_display ON scim_groups (issuer_id, display_key);
CREATE INDEX scim_groups_by_external ON scim_groups (issuer_id, external_id);

CREATE TABLE scim_members (
  group_id   TEXT NOT NULL REFERENCES scim_groups (id),
  member_id  TEXT NOT NULL REFERENCES scim_users (id),
  PRIMARY KEY (group_id, member_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX scim_members_by_member ON scim_members (member_id);

CREATE TABLE former_addresses (
  user_id  TEXT NOT NULL REFERENCES users (id),
  email    TEXT NOT NULL,
  PRIMARY KEY (user_id, email)
) STRICT, WITHOUT ROWID;
