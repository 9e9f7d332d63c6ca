-- People, sign-ins, read tokens, audit and daily counts.
-- People. `email_key` is the address as it is compared: trimmed, NFKC, lower case.
CREATE TABLE users (
  id             TEXT PRIMARY KEY,
  email          TEXT NOT NULL,
  email_key      TEXT NOT NULL UNIQUE,
  name           TEXT,
  password_hash  TEXT,
  operator       INTEGER NOT NULL CHECK (operator IN (0, 1)),
  created_at     INTEGER NOT NULL,
  disabled_at    INTEGER
) STRICT;

CREATE TABLE memberships (
  team_id     TEXT NOT NULL REFERENCES teams (id),
  user_id     TEXT NOT NULL REFERENCES users (id),
  role        TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member')),
  created_at  INTEGER NOT NULL,
  PRIMARY KEY (team_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX memberships_by_user ON memberships (user_id, team_id);

-- One-time links: the first operator's set-up, an invitation into a team, a password reset.
CREATE TABLE account_links (
  id          TEXT PRIMARY KEY,
  token_hash  BLOB NOT NULL UNIQUE,
  kind        TEXT NOT NULL CHECK (kind IN ('setup', 'invitation', 'reset')),
  team_id     TEXT REFERENCES teams (id),
  role        TEXT CHECK (role IN ('owner', 'admin', 'member')),
  email       TEXT,
  user_id     TEXT REFERENCES users (id),
  created_by  TEXT,
  created_at  INTEGER NOT NULL,
  expires_at  INTEGER NOT NULL,
  used_at     INTEGER,
  revoked_at  INTEGER
) STRICT;
CREATE INDEX account_links_by_team ON account_links (team_id, created_at);
CREATE INDEX account_links_by_user ON account_links (user_id);

-- A person's sign-ins. `team_id` is the team whose pages are shown.
CREATE TABLE sessions (
  id            TEXT PRIMARY KEY,
  token_hash    BLOB NOT NULL UNIQUE,
  user_id       TEXT NOT NULL REFERENCES users (id),
  team_id       TEXT REFERENCES teams (id),
  ip            TEXT NOT NULL,
  user_agent    TEXT,
  created_at    INTEGER NOT NULL,
  last_seen_at  INTEGER NOT NULL,
  expires_at    INTEGER NOT NULL,
  ended_at      INTEGER
) STRICT;
CREATE INDEX sessions_by_user ON sessions (user_id, ended_at, created_at);

-- Pending and answered device authorizations (RFC 8628). How often each is polled is kept in memory.
CREATE TABLE device_authorizations (
  device_code_hash  BLOB PRIMARY KEY,
  user_code         TEXT NOT NULL,
  channel           TEXT CHECK (channel IN ('npm', 'desktop')),
  ip                TEXT NOT NULL,
  user_agent        TEXT,
  status            TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'denied', 'redeemed')),
  user_id           TEXT REFERENCES users (id),
  created_at        INTEGER NOT NULL,
  expires_at        INTEGER NOT NULL,
  decided_at        INTEGER
) STRICT;
CREATE UNIQUE INDEX device_authorizations_pending ON device_authorizations (user_code) WHERE status = 'pending';
CREATE INDEX device_authorizations_by_expiry ON device_authorizations (expires_at);

-- CLI access tokens are signed, not stored; a row is what lets one be listed and revoked. `id` is the token's `jti`.
CREATE TABLE cli_tokens (
  id            TEXT PRIMARY KEY,
  user_id       TEXT NOT NULL REFERENCES users (id),
  channel       TEXT,
  ip            TEXT NOT NULL,
  user_agent    TEXT,
  created_at    INTEGER NOT NULL,
  expires_at    INTEGER NOT NULL,
  last_used_at  INTEGER,
  revoked_at    INTEGER
) STRICT;
CREATE INDEX cli_tokens_by_user ON cli_tokens (user_id, created_at);

-- `scope` is a JSON object with the lists `teams`, `repos`, `paths` and `kinds`; an empty list does not narrow.
CREATE TABLE read_tokens (
  id            TEXT PRIMARY KEY,
  token_hash    BLOB NOT NULL UNIQUE,
  user_id       TEXT NOT NULL REFERENCES users (id),
  name          TEXT NOT NULL,
  scope         TEXT NOT NULL,
  created_at    INTEGER NOT NULL,
  expires_at    INTEGER,
  last_used_at  INTEGER,
  revoked_at    INTEGER
) STRICT;
CREATE INDEX read_tokens_by_user ON read_tokens (user_id, created_at);

-- Every read through a read token, for its owner. `question` is stored after redaction.
CREATE TABLE token_reads (
  id        INTEGER PRIMARY KEY,
  token_id  TEXT NOT NULL REFERENCES read_tokens (id),
  user_id   TEXT NOT NULL REFERENCES users (id),
  at        INTEGER NOT NULL,
  question  TEXT NOT NULL,
  total     INTEGER NOT NULL,
  shown     INTEGER NOT NULL,
  ip        TEXT NOT NULL
) STRICT;
CREATE INDEX token_reads_by_user ON token_reads (user_id, id);
CREATE INDEX token_reads_by_token ON token_reads (token_id, id);

-- What a read token has used of its daily cap. `day` counts days since the epoch, UTC.
CREATE TABLE token_read_days (
  token_id  TEXT NOT NULL REFERENCES read_tokens (id),
  day       INTEGER NOT NULL,
  reads     INTEGER NOT NULL,
  PRIMARY KEY (token_id, day)
) STRICT, WITHOUT ROWID;

-- Who did what, when, from where. No foreign keys: an event outlives what it tells of. `detail` is a JSON object.
CREATE TABLE audit_events (
  id            INTEGER PRIMARY KEY,
  at            INTEGER NOT NULL,
  team_id       TEXT,
  actor_kind    TEXT NOT NULL CHECK (actor_kind IN ('user', 'device', 'command', 'system')),
  actor_id      TEXT,
  actor_label   TEXT NOT NULL,
  action        TEXT NOT NULL,
  target_kind   TEXT,
  target_id     TEXT,
  target_label  TEXT,
  ip            TEXT,
  detail        TEXT NOT NULL
) STRICT;
CREATE INDEX audit_events_by_team ON audit_events (team_id, id);

-- Deliveries counted by day (UTC, days since the epoch), so that a year of them is read in one look.
CREATE TABLE delivery_days (
  team_id     TEXT NOT NULL REFERENCES teams (id),
  kind        TEXT NOT NULL CHECK (kind IN ('telemetry', 'brain', 'traces')),
  day         INTEGER NOT NULL,
  deliveries  INTEGER NOT NULL,
  items       INTEGER NOT NULL,
  gaps        INTEGER NOT NULL,
  rollbacks   INTEGER NOT NULL,
  PRIMARY KEY (team_id, kind, day)
) STRICT, WITHOUT ROWID;

CREATE INDEX trace_sessions_recent ON trace_sessions (team_id, started_at, id);
CREATE INDEX telemetry_streams_by_team ON telemetry_streams (team_id, updated_at);
CREATE INDEX connect_codes_by_team ON connect_codes (team_id, expires_at);
CREATE INDEX deliveries_flagged ON deliveries (team_id, id) WHERE flagged IS NOT NULL;
CREATE INDEX telemetry_conflicts_by_stream ON telemetry_conflicts (stream_id, id);

ALTER TABLE devices ADD COLUMN user_agent TEXT;
ALTER TABLE policies ADD COLUMN created_by TEXT;
ALTER TABLE connect_codes ADD COLUMN created_by TEXT;

INSERT INTO delivery_days (team_id, kind, day, deliveries, items, gaps, rollbacks)
SELECT team_id, kind, received_at / 86400000, count(*), sum(items), sum(flagged IS 'gap'), sum(flagged IS 'rollback')
FROM deliveries GROUP BY 1, 2, 3;
