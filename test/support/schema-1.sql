-- The whole database, as a new instance gets it. Older files reach the same shape by src/store/migrations/NNNN-*.sql.
-- Instants (`*_at`) are milliseconds since the Unix epoch. `''` as repo_key means that the client named no repository.

CREATE TABLE teams (
  id                       TEXT PRIMARY KEY,
  name                     TEXT NOT NULL UNIQUE,
  tier                     TEXT NOT NULL CHECK (tier IN ('starter', 'team', 'enterprise')),
  seats                    INTEGER NOT NULL CHECK (seats >= 0),
  subscription             TEXT NOT NULL CHECK (subscription IN ('active', 'trialing', 'past_due', 'canceled', 'none')),
  subscription_changed_at  INTEGER NOT NULL,
  period_end_at            INTEGER,
  suspended_at             INTEGER,
  created_at               INTEGER NOT NULL
) STRICT;

-- No foreign key: a code outlives its team, so that its holder learns that the team is gone.
CREATE TABLE connect_codes (
  code_hash    BLOB PRIMARY KEY,
  team_id      TEXT NOT NULL,
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER NOT NULL,
  consumed_at  INTEGER,
  device_id    TEXT
) STRICT;

CREATE TABLE devices (
  id               TEXT PRIMARY KEY,
  team_id          TEXT NOT NULL REFERENCES teams (id),
  label            TEXT,
  consent_version  TEXT NOT NULL,
  created_at       INTEGER NOT NULL,
  last_seen_at     INTEGER,
  revoked_at       INTEGER
) STRICT;
CREATE INDEX devices_by_team ON devices (team_id, created_at);

CREATE TABLE device_tokens (
  token_hash   BLOB PRIMARY KEY,
  device_id    TEXT NOT NULL REFERENCES devices (id),
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER,
  replaced_at  INTEGER
) STRICT;
CREATE INDEX device_tokens_by_device ON device_tokens (device_id);

CREATE TABLE signing_keys (
  kid         TEXT PRIMARY KEY,
  alg         TEXT NOT NULL,
  public_pem  TEXT NOT NULL,
  created_at  INTEGER NOT NULL,
  retired_at  INTEGER
) STRICT;
CREATE UNIQUE INDEX signing_keys_one_active ON signing_keys ((retired_at IS NULL)) WHERE retired_at IS NULL;

CREATE TABLE policies (
  id          INTEGER PRIMARY KEY,
  team_id     TEXT NOT NULL REFERENCES teams (id),
  document    TEXT NOT NULL,
  created_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX policies_by_team ON policies (team_id, id);

-- The ledger: one row for each delivery that changed anything, chained by hash so that a removed or altered row shows.
CREATE TABLE deliveries (
  id              INTEGER PRIMARY KEY,
  team_id         TEXT NOT NULL REFERENCES teams (id),
  device_id       TEXT NOT NULL REFERENCES devices (id),
  kind            TEXT NOT NULL CHECK (kind IN ('telemetry', 'brain', 'traces')),
  repo_key        TEXT NOT NULL,
  mode            TEXT,
  received_at     INTEGER NOT NULL,
  items           INTEGER NOT NULL,
  redacted        INTEGER NOT NULL,
  flagged         TEXT CHECK (flagged IN ('gap', 'rollback')),
  content_sha256  BLOB NOT NULL,
  chain_sha256    BLOB NOT NULL
) STRICT;
CREATE INDEX deliveries_by_team ON deliveries (team_id, id);

CREATE TABLE telemetry_streams (
  id              INTEGER PRIMARY KEY,
  team_id         TEXT NOT NULL REFERENCES teams (id),
  device_id       TEXT NOT NULL REFERENCES devices (id),
  repo_key        TEXT NOT NULL,
  max_seq         INTEGER NOT NULL,
  entry_count     INTEGER NOT NULL,
  conflict_count  INTEGER NOT NULL,
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  UNIQUE (device_id, repo_key)
) STRICT;

CREATE TABLE telemetry_gaps (
  stream_id  INTEGER NOT NULL REFERENCES telemetry_streams (id),
  from_seq   INTEGER NOT NULL,
  to_seq     INTEGER NOT NULL,
  PRIMARY KEY (stream_id, from_seq)
) STRICT, WITHOUT ROWID;

-- `payload` is the JSON text as sent, byte for byte but for redactions.
CREATE TABLE telemetry_entries (
  id                INTEGER PRIMARY KEY,
  stream_id         INTEGER NOT NULL,
  seq               INTEGER NOT NULL,
  delivery_id       INTEGER NOT NULL,
  client_timestamp  TEXT,
  payload           TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX telemetry_entries_by_seq ON telemetry_entries (stream_id, seq);

-- Entries whose seq was already taken by other content: kept as evidence, never overwriting.
CREATE TABLE telemetry_conflicts (
  id                INTEGER PRIMARY KEY,
  stream_id         INTEGER NOT NULL REFERENCES telemetry_streams (id),
  seq               INTEGER NOT NULL,
  delivery_id       INTEGER NOT NULL REFERENCES deliveries (id),
  client_timestamp  TEXT,
  payload           TEXT NOT NULL,
  content_sha256    BLOB NOT NULL,
  UNIQUE (stream_id, seq, content_sha256)
) STRICT;

CREATE TABLE brain_streams (
  id            INTEGER PRIMARY KEY,
  team_id       TEXT NOT NULL REFERENCES teams (id),
  device_id     TEXT NOT NULL REFERENCES devices (id),
  repo_key      TEXT NOT NULL,
  last_version  INTEGER NOT NULL,
  UNIQUE (device_id, repo_key)
) STRICT;

CREATE TABLE brain_blobs (
  id             INTEGER PRIMARY KEY,
  team_id        TEXT NOT NULL REFERENCES teams (id),
  sha256         BLOB NOT NULL,
  rules_version  TEXT NOT NULL,
  bytes          INTEGER NOT NULL,
  content        TEXT NOT NULL,
  UNIQUE (team_id, sha256)
) STRICT;

-- `entries` is a JSON array of [path, blob id], sorted by path.
CREATE TABLE brain_manifests (
  id       INTEGER PRIMARY KEY,
  team_id  TEXT NOT NULL REFERENCES teams (id),
  sha256   BLOB NOT NULL,
  files    INTEGER NOT NULL,
  bytes    INTEGER NOT NULL,
  entries  TEXT NOT NULL,
  UNIQUE (team_id, sha256)
) STRICT;

CREATE TABLE brain_snapshots (
  id                INTEGER PRIMARY KEY,
  stream_id         INTEGER NOT NULL REFERENCES brain_streams (id),
  team_id           TEXT NOT NULL REFERENCES teams (id),
  repo_key          TEXT NOT NULL,
  version           INTEGER NOT NULL,
  manifest_id       INTEGER NOT NULL REFERENCES brain_manifests (id),
  delivery_id       INTEGER NOT NULL REFERENCES deliveries (id),
  accepted          INTEGER NOT NULL CHECK (accepted IN (0, 1)),
  gap               INTEGER NOT NULL CHECK (gap IN (0, 1)),
  redaction_hits    INTEGER NOT NULL,
  client_timestamp  TEXT,
  UNIQUE (stream_id, version, manifest_id)
) STRICT;
CREATE INDEX brain_snapshots_by_repo ON brain_snapshots (team_id, repo_key, id);

-- The newest accepted snapshot of a repository, of any of the team's devices.
CREATE TABLE brain_currents (
  team_id      TEXT NOT NULL REFERENCES teams (id),
  repo_key     TEXT NOT NULL,
  snapshot_id  INTEGER NOT NULL REFERENCES brain_snapshots (id),
  PRIMARY KEY (team_id, repo_key)
) STRICT, WITHOUT ROWID;

-- `document` is the session object as sent, without its spans, after redaction and merging.
CREATE TABLE trace_sessions (
  id           INTEGER PRIMARY KEY,
  team_id      TEXT NOT NULL REFERENCES teams (id),
  device_id    TEXT NOT NULL REFERENCES devices (id),
  repo_key     TEXT NOT NULL,
  external_id  TEXT NOT NULL,
  outcome      TEXT NOT NULL,
  agent        TEXT,
  model        TEXT,
  branch       TEXT,
  started_at   INTEGER,
  ended_at     INTEGER,
  document     TEXT NOT NULL,
  delivery_id  INTEGER NOT NULL REFERENCES deliveries (id),
  created_at   INTEGER NOT NULL,
  updated_at   INTEGER NOT NULL,
  UNIQUE (device_id, external_id)
) STRICT;
CREATE INDEX trace_sessions_by_team ON trace_sessions (team_id, repo_key, started_at);

CREATE TABLE trace_spans (
  id           INTEGER PRIMARY KEY,
  session_id   INTEGER NOT NULL,
  external_id  TEXT NOT NULL,
  parent_id    TEXT,
  name         TEXT,
  kind         TEXT,
  started_at   INTEGER,
  ended_at     INTEGER,
  document     TEXT NOT NULL,
  delivery_id  INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX trace_spans_by_session ON trace_spans (session_id, external_id);

CREATE TABLE trace_labels (
  id              INTEGER PRIMARY KEY,
  team_id         TEXT NOT NULL REFERENCES teams (id),
  device_id       TEXT NOT NULL REFERENCES devices (id),
  repo_key        TEXT NOT NULL,
  session_id      TEXT,
  span_id         TEXT,
  name            TEXT,
  document        TEXT NOT NULL,
  content_sha256  BLOB NOT NULL,
  delivery_id     INTEGER NOT NULL REFERENCES deliveries (id),
  UNIQUE (device_id, repo_key, content_sha256)
) STRICT;
CREATE INDEX trace_labels_by_session ON trace_labels (device_id, session_id);

-- One row that the write probe of the health check rewrites.
CREATE TABLE health_probes (
  id         INTEGER PRIMARY KEY CHECK (id = 1),
  probed_at  INTEGER NOT NULL,
  filler     BLOB NOT NULL
) STRICT;
