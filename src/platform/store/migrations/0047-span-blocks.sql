-- Documents of spans move into compressed blocks, each of one session; existing documents follow later.
CREATE TABLE trace_span_blocks (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id  INTEGER NOT NULL,
  first_span  INTEGER NOT NULL,
  last_span   INTEGER NOT NULL,
  replaced    INTEGER NOT NULL DEFAULT 0,
  content     BLOB NOT NULL
) STRICT;
CREATE INDEX trace_span_blocks_by_session ON trace_span_blocks (session_id, last_span);
CREATE INDEX trace_span_blocks_replaced ON trace_span_blocks (session_id) WHERE replaced;
ALTER TABLE trace_spans ADD COLUMN block_id INTEGER;
ALTER TABLE trace_spans ADD COLUMN block_at INTEGER;
ALTER TABLE trace_spans ADD COLUMN bytes INTEGER;
CREATE TRIGGER trace_spans_replaced AFTER UPDATE OF block_id ON trace_spans WHEN OLD.block_id IS NOT NULL AND NEW.block_id IS NULL BEGIN
  UPDATE trace_span_blocks SET replaced = 1 WHERE id = OLD.block_id;
END;
ALTER TABLE trace_sessions ADD COLUMN unsealed_since INTEGER DEFAULT 0;
CREATE INDEX trace_sessions_unsealed ON trace_sessions (unsealed_since) WHERE unsealed_since IS NOT NULL;
