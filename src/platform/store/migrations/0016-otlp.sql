-- Entries that came by OTLP, so that a request sent again is not stored twice. Rows go after a week.
CREATE TABLE otlp_seen (
  entry_key    BLOB PRIMARY KEY,
  received_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX otlp_seen_by_time ON otlp_seen (received_at);
