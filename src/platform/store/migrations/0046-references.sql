-- When a row is removed, SQLite looks for references to it: without an index, in the whole table.
CREATE INDEX IF NOT EXISTS session_finds_by_session ON session_finds (session_id);
CREATE INDEX IF NOT EXISTS brain_snapshots_by_manifest ON brain_snapshots (manifest_id);
CREATE INDEX IF NOT EXISTS defect_files_by_blob ON defect_files (blob_id);
