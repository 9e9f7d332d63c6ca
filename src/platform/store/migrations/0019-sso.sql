-- Single sign-on: issuers, the people they sign in, and what their groups mean here. A membership has its source.
CREATE TABLE sso_issuers (
  id             TEXT PRIMARY KEY,
  name           TEXT NOT NULL UNIQUE,
  issuer         TEXT NOT NULL,
  client_id      TEXT NOT NULL,
  client_secret  TEXT,
  label          TEXT NOT NULL,
  scopes         TEXT NOT NULL,
  groups_claim   TEXT NOT NULL,
  domains        TEXT NOT NULL,
  jit            INTEGER NOT NULL CHECK (jit IN (0, 1)),
  trust_email    INTEGER NOT NULL CHECK (trust_email IN (0, 1)),
  session_hours  INTEGER NOT NULL,
  created_at     INTEGER NOT NULL,
  UNIQUE (issuer, client_id)
) STRICT;

CREATE TABLE sso_groups (
  issuer_id   TEXT NOT NULL REFERENCES sso_issuers (id),
  group_name  TEXT NOT NULL,
  team_id     TEXT NOT NULL REFERENCES teams (id),
  role        TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer', 'own_only')),
  PRIMARY KEY (issuer_id, group_name, team_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE sso_identities (
  issuer_id     TEXT NOT NULL REFERENCES sso_issuers (id),
  subject       TEXT NOT NULL,
  user_id       TEXT NOT NULL REFERENCES users (id),
  created_at    INTEGER NOT NULL,
  last_used_at  INTEGER,
  PRIMARY KEY (issuer_id, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX sso_identities_by_user ON sso_identities (user_id);

CREATE TABLE memberships_new (
  team_id     TEXT NOT NULL REFERENCES teams (id),
  user_id     TEXT NOT NULL REFERENCES users (id),
  role        TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer', 'own_only')),
  created_at  INTEGER NOT NULL,
  source      TEXT,
  PRIMARY KEY (team_id, user_id)
) STRICT, WITHOUT ROWID;
INSERT INTO memberships_new (team_id, user_id, role, created_at) SELECT team_id, user_id, role, created_at FROM memberships;
DROP TABLE memberships;
ALTER TABLE memberships_new RENAME TO memberships;
CREATE INDEX memberships_by_user ON memberships (user_id, team_id);

ALTER TABLE web_sessions ADD COLUMN method TEXT;
