-- Notes of commits: which lines of one which session wrote, byte for byte as they were sent.
CREATE TABLE trace_notes (
  id           INTEGER PRIMARY KEY,
  team_id      TEXT NOT NULL REFERENCES teams (id),
  device_id    TEXT NOT NULL REFERENCES devices (id),
  commit_sha   TEXT NOT NULL,
  content      BLOB NOT NULL,
  delivery_id  INTEGER NOT NULL REFERENCES deliveries (id),
  item         INTEGER NOT NULL,
  created_at   INTEGER NOT NULL,
  updated_at   INTEGER NOT NULL,
  UNIQUE (team_id, commit_sha)
) STRICT;
CREATE INDEX trace_notes_by_device ON trace_notes (device_id, updated_at);
CREATE INDEX trace_notes_by_delivery ON trace_notes (delivery_id, item);

-- The sessions that a note names, by their agents' ids.
CREATE TABLE trace_note_sessions (
  team_id     TEXT NOT NULL,
  session_id  TEXT NOT NULL,
  note_id     INTEGER NOT NULL REFERENCES trace_notes (id),
  PRIMARY KEY (team_id, session_id, note_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX trace_note_sessions_by_note ON trace_note_sessions (note_id);
