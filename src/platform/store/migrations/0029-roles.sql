-- Invitations into every role there is.
CREATE TABLE one_time_links_new (
  id          TEXT PRIMARY KEY,
  token_hash  BLOB NOT NULL UNIQUE,
  kind        TEXT NOT NULL CHECK (kind IN ('setup', 'invitation', 'reset')),
  team_id     TEXT REFERENCES teams (id),
  role        TEXT CHECK (role IN ('owner', 'admin', 'member', 'viewer', 'own_only')),
  email       TEXT,
  user_id     TEXT REFERENCES users (id),
  created_by  TEXT,
  created_at  INTEGER NOT NULL,
  expires_at  INTEGER NOT NULL,
  used_at     INTEGER,
  revoked_at  INTEGER,
  maker_id    TEXT REFERENCES users (id)
) STRICT;
INSERT INTO one_time_links_new (id, token_hash, kind, team_id, role, email, user_id, created_by, created_at, expires_at, used_at, revoked_at, maker_id)
  SELECT id, token_hash, kind, team_id, role, email, user_id, created_by, created_at, expires_at, used_at, revoked_at, maker_id
  FROM one_time_links;
DROP TABLE one_time_links;
ALTER TABLE one_time_links_new RENAME TO one_time_links;
CREATE INDEX one_time_links_by_team ON one_time_links (team_id, created_at);
CREATE INDEX one_time_links_by_user ON one_time_links (user_id);

-- Who opened whose session: one row for a person, a session and a day (UTC, since the epoch).
CREATE TABLE session_views (
  session_id  INTEGER NOT NULL,
  user_id     TEXT NOT NULL REFERENCES users (id),
  day         INTEGER NOT NULL,
  team_id     TEXT NOT NULL REFERENCES teams (id),
  device_id   TEXT NOT NULL REFERENCES devices (id),
  at          INTEGER NOT NULL,
  PRIMARY KEY (session_id, user_id, day)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_views_by_device ON session_views (device_id, at);
CREATE INDEX session_views_by_user ON session_views (user_id);
