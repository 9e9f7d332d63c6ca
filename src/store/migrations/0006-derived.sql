-- What derivations could not work through and passed over.
CREATE TABLE derivation_failures (
  name       TEXT NOT NULL,
  position   INTEGER NOT NULL,
  failed_at  INTEGER NOT NULL,
  cause      TEXT NOT NULL,
  PRIMARY KEY (name, position)
) STRICT, WITHOUT ROWID;

-- Numbers of entries are never given twice: they are addresses of pages, and links go by them.
ALTER TABLE defects RENAME TO defects_before;
DROP INDEX defects_by_date;
DROP INDEX defects_by_fingerprint;
CREATE TABLE defects (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  team_id      TEXT NOT NULL REFERENCES teams (id),
  repo_key     TEXT NOT NULL,
  path         TEXT NOT NULL,
  kind         TEXT NOT NULL CHECK (kind IN ('error', 'security', 'anti-pattern')),
  heading      TEXT NOT NULL,
  ordinal      INTEGER NOT NULL,
  date         TEXT NOT NULL,
  title        TEXT NOT NULL,
  line         INTEGER NOT NULL,
  open         INTEGER NOT NULL CHECK (open IN (0, 1)),
  fingerprint  BLOB NOT NULL,
  rule         TEXT,
  commits      TEXT NOT NULL,
  files        TEXT NOT NULL,
  UNIQUE (team_id, repo_key, path, heading, ordinal)
) STRICT;
INSERT INTO defects SELECT * FROM defects_before;
DROP TABLE defects_before;
CREATE INDEX defects_by_date ON defects (team_id, repo_key, date);
CREATE INDEX defects_by_fingerprint ON defects (team_id, fingerprint);

-- The entry that a link is of; `gone_after` is the highest number of an entry when that one was found to be gone.
ALTER TABLE causal_links ADD COLUMN entry_id INTEGER;
ALTER TABLE causal_links ADD COLUMN gone_after INTEGER;
UPDATE causal_links SET entry_id = (
  SELECT d.id FROM defects d WHERE d.team_id = causal_links.team_id AND d.repo_key = causal_links.repo_key
    AND d.path = causal_links.path AND d.heading = causal_links.heading AND d.ordinal = causal_links.ordinal);
-- What came with installed packs is no longer counted: the entries are read anew, and keep their numbers.
DELETE FROM derivations WHERE name = 'defects';
