-- Entries are kept together by delivery instead of in a row each; `moveEntries` fills the tables.
CREATE TABLE telemetry_segments (
  first_id     INTEGER PRIMARY KEY,
  stream_id    INTEGER NOT NULL,
  first_seq    INTEGER NOT NULL,
  last_seq     INTEGER NOT NULL,
  entries      INTEGER NOT NULL,
  delivery_id  INTEGER NOT NULL,
  block_id     INTEGER,
  block_at     INTEGER,
  bytes        INTEGER NOT NULL,
  texts        BLOB
) STRICT;
CREATE UNIQUE INDEX telemetry_segments_by_seq ON telemetry_segments (stream_id, first_seq);
CREATE INDEX telemetry_segments_unsealed ON telemetry_segments (stream_id, first_seq) WHERE block_id IS NULL;

CREATE TABLE telemetry_blocks (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  stream_id  INTEGER NOT NULL,
  content    BLOB NOT NULL
) STRICT;
