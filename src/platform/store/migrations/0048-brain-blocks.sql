-- Contents of brains move into compressed blocks, each of one team; existing contents follow later.
CREATE TABLE brain_blocks (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  team_id  TEXT NOT NULL REFERENCES teams (id),
  content  BLOB NOT NULL
) STRICT;
ALTER TABLE brain_blobs ADD COLUMN block_id INTEGER;
ALTER TABLE brain_blobs ADD COLUMN block_at INTEGER;
CREATE INDEX brain_blobs_unsealed ON brain_blobs (team_id, id) WHERE block_id IS NULL AND withheld_sha256 IS NULL AND bytes > 0;
CREATE INDEX brain_blobs_by_block ON brain_blobs (block_id, block_at) WHERE block_id IS NOT NULL;
