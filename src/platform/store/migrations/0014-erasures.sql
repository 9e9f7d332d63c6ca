-- Erasures, holds and retention.
CREATE TABLE erasures (
  id            TEXT PRIMARY KEY,
  kind          TEXT NOT NULL CHECK (kind IN ('person', 'device', 'session', 'entry', 'repo', 'retention')),
  team_id       TEXT,
  target        TEXT NOT NULL,
  reason        TEXT NOT NULL,
  requested_by      TEXT NOT NULL,
  requested_at      INTEGER NOT NULL,
  counts        TEXT NOT NULL DEFAULT '{}',
  completed_at  INTEGER
) STRICT;
CREATE INDEX erasures_unfinished ON erasures (requested_at) WHERE completed_at IS NULL;

CREATE TABLE holds (
  id           TEXT PRIMARY KEY,
  kind         TEXT NOT NULL CHECK (kind IN ('team', 'device', 'session')),
  team_id      TEXT NOT NULL REFERENCES teams (id),
  device_id    TEXT REFERENCES devices (id),
  session      TEXT,
  reason       TEXT NOT NULL,
  placed_by    TEXT NOT NULL,
  placed_at    INTEGER NOT NULL,
  released_by  TEXT,
  released_at  INTEGER
) STRICT;
CREATE INDEX holds_in_force ON holds (team_id) WHERE released_at IS NULL;

CREATE TABLE retention_rules (
  team_id  TEXT NOT NULL REFERENCES teams (id),
  kind     TEXT NOT NULL CHECK (kind IN ('telemetry', 'brain', 'traces', 'reads', 'audit', 'web-sessions')),
  days     INTEGER NOT NULL CHECK (days > 0),
  PRIMARY KEY (team_id, kind)
) STRICT, WITHOUT ROWID;

ALTER TABLE deliveries ADD COLUMN item_salts BLOB;
ALTER TABLE deliveries ADD COLUMN erased_by TEXT REFERENCES erasures (id);
ALTER TABLE deliveries ADD COLUMN erased_items INTEGER NOT NULL DEFAULT 0;

-- Numbers of rows that may be removed are never given twice, since what follows brains and sessions refers to them. SQLite cannot change
-- that in place, so the tables are made anew, with foreign keys switched off.
CREATE TABLE new_brain_blobs (
  id               INTEGER PRIMARY KEY AUTOINCREMENT,
  team_id          TEXT NOT NULL REFERENCES teams (id),
  sha256           BLOB NOT NULL,
  rules_version    TEXT NOT NULL,
  bytes            INTEGER NOT NULL,
  content          TEXT NOT NULL,
  withheld_sha256  BLOB,
  UNIQUE (team_id, sha256)
) STRICT;
INSERT INTO new_brain_blobs (id, team_id, sha256, rules_version, bytes, content, withheld_sha256)
  SELECT id, team_id, sha256, rules_version, bytes, content, withheld_sha256 FROM brain_blobs;
DROP TABLE brain_blobs;
ALTER TABLE new_brain_blobs RENAME TO brain_blobs;

CREATE TABLE new_brain_manifests (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  team_id  TEXT NOT NULL REFERENCES teams (id),
  sha256   BLOB NOT NULL,
  files    INTEGER NOT NULL,
  bytes    INTEGER NOT NULL,
  entries  TEXT NOT NULL,
  UNIQUE (team_id, sha256)
) STRICT;
INSERT INTO new_brain_manifests (id, team_id, sha256, files, bytes, entries)
  SELECT id, team_id, sha256, files, bytes, entries FROM brain_manifests;
DROP TABLE brain_manifests;
ALTER TABLE new_brain_manifests RENAME TO brain_manifests;

CREATE TABLE new_brain_snapshots (
  id                INTEGER PRIMARY KEY AUTOINCREMENT,
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
INSERT INTO new_brain_snapshots (id, stream_id, team_id, repo_key, version, manifest_id, delivery_id, accepted, gap, redaction_hits, client_timestamp)
  SELECT id, stream_id, team_id, repo_key, version, manifest_id, delivery_id, accepted, gap, redaction_hits, client_timestamp
  FROM brain_snapshots;
DROP TABLE brain_snapshots;
ALTER TABLE new_brain_snapshots RENAME TO brain_snapshots;
CREATE INDEX brain_snapshots_by_repo ON brain_snapshots (team_id, repo_key, id);

CREATE TABLE new_trace_sessions (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
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
  item         INTEGER,
  UNIQUE (device_id, external_id)
) STRICT;
INSERT INTO new_trace_sessions (id, team_id, device_id, repo_key, external_id, outcome, agent, model, branch, started_at, ended_at, document, delivery_id, created_at, updated_at, item)
  SELECT id, team_id, device_id, repo_key, external_id, outcome, agent, model, branch, started_at, ended_at, document, delivery_id, created_at, updated_at, item
  FROM trace_sessions;
DROP TABLE trace_sessions;
ALTER TABLE new_trace_sessions RENAME TO trace_sessions;
CREATE INDEX trace_sessions_recent ON trace_sessions (team_id, started_at, id);
CREATE INDEX trace_sessions_by_team ON trace_sessions (team_id, repo_key, started_at);
CREATE INDEX trace_sessions_by_delivery ON trace_sessions (delivery_id);

-- The hash of an audit event's item as it was, once names were removed from it; and the leaves of events that were erased.
ALTER TABLE audit_events ADD COLUMN item_sha256 BLOB;
CREATE TABLE erased_events (
  leaf     INTEGER PRIMARY KEY,
  team_id  TEXT,
  at       INTEGER NOT NULL
) STRICT;
