-- The deliveries become leaves of a Merkle tree. Chained deliveries keep their chain, and their leaf is made of it.
CREATE TABLE log_leaves (
  n       INTEGER PRIMARY KEY,
  sha256  BLOB NOT NULL
) STRICT;
INSERT INTO log_leaves (n, sha256) SELECT id, leaf_of_chain(chain_sha256) FROM deliveries ORDER BY id;

CREATE TABLE log_subtrees (
  n       INTEGER PRIMARY KEY,
  sha256  BLOB NOT NULL
) STRICT;

CREATE TABLE log_epochs (
  leaf  INTEGER PRIMARY KEY,
  data  TEXT NOT NULL
) STRICT;

CREATE TABLE delivery_streams (
  id         INTEGER PRIMARY KEY,
  device_id  TEXT NOT NULL REFERENCES devices (id),
  kind       TEXT NOT NULL CHECK (kind IN ('telemetry', 'brain', 'traces')),
  repo_key   TEXT NOT NULL,
  last       INTEGER NOT NULL,
  UNIQUE (device_id, kind, repo_key)
) STRICT;
INSERT INTO delivery_streams (device_id, kind, repo_key, last)
  SELECT device_id, kind, repo_key, max(id) FROM deliveries GROUP BY device_id, kind, repo_key;

CREATE TABLE deliveries_new (
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
  chain_sha256    BLOB,
  capture_mode    TEXT CHECK (capture_mode IN ('off', 'metadata', 'redacted', 'full')),
  withheld        INTEGER NOT NULL DEFAULT 0,
  stream_id       INTEGER REFERENCES delivery_streams (id),
  previous        INTEGER,
  item_count      INTEGER,
  item_key        BLOB,
  sent_sha256     BLOB
) STRICT;
INSERT INTO deliveries_new (id, team_id, device_id, kind, repo_key, mode, received_at, items, redacted, flagged, content_sha256,
    chain_sha256, capture_mode, withheld)
  SELECT id, team_id, device_id, kind, repo_key, mode, received_at, items, redacted, flagged, content_sha256, chain_sha256,
    capture_mode, withheld FROM deliveries ORDER BY id;
DROP TABLE deliveries;
ALTER TABLE deliveries_new RENAME TO deliveries;
CREATE INDEX deliveries_by_team ON deliveries (team_id, id);
CREATE INDEX deliveries_flagged ON deliveries (team_id, id) WHERE flagged IS NOT NULL;

CREATE TABLE delivery_items (
  delivery_id  INTEGER NOT NULL REFERENCES deliveries (id),
  item         INTEGER NOT NULL,
  sha256       BLOB NOT NULL,
  PRIMARY KEY (delivery_id, item)
) STRICT, WITHOUT ROWID;

ALTER TABLE telemetry_conflicts ADD COLUMN item INTEGER;
ALTER TABLE trace_sessions ADD COLUMN item INTEGER;
ALTER TABLE trace_spans ADD COLUMN item INTEGER;
ALTER TABLE trace_labels ADD COLUMN item INTEGER;
CREATE INDEX trace_spans_by_delivery ON trace_spans (delivery_id, item) WHERE item IS NOT NULL;
CREATE INDEX trace_labels_by_delivery ON trace_labels (delivery_id, item) WHERE item IS NOT NULL;

ALTER TABLE audit_events ADD COLUMN leaf INTEGER;
ALTER TABLE audit_events ADD COLUMN item_key BLOB;
CREATE UNIQUE INDEX audit_events_by_leaf ON audit_events (leaf) WHERE leaf IS NOT NULL;
