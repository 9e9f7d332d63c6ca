-- The capture mode under which a delivery arrived, and the count of what it withheld. Older rows keep their digest, which covers neither.
ALTER TABLE deliveries ADD COLUMN capture_mode TEXT CHECK (capture_mode IN ('off', 'metadata', 'redacted', 'full'));
ALTER TABLE deliveries ADD COLUMN withheld INTEGER NOT NULL DEFAULT 0;

CREATE TABLE withheld_ranges (
  id           INTEGER PRIMARY KEY,
  kind         TEXT NOT NULL CHECK (kind IN ('telemetry', 'brain')),
  stream_id    INTEGER NOT NULL,
  first        INTEGER NOT NULL,
  last         INTEGER NOT NULL CHECK (last >= first),
  delivery_id  INTEGER NOT NULL REFERENCES deliveries (id),
  UNIQUE (kind, stream_id, first)
) STRICT;

CREATE TABLE policy_violations (
  device_id   TEXT PRIMARY KEY REFERENCES devices (id),
  deliveries  INTEGER NOT NULL,
  last_at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

ALTER TABLE brain_blobs ADD COLUMN withheld_sha256 BLOB;
