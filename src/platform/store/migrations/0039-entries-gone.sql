-- The numbers of entries that are gone, by a digest that recognises an entry when it comes back.
CREATE TABLE defects_gone (
  team_id   TEXT NOT NULL REFERENCES teams (id),
  repo_key  TEXT NOT NULL,
  digest    BLOB NOT NULL,
  id        INTEGER NOT NULL,
  PRIMARY KEY (team_id, repo_key, digest)
) STRICT, WITHOUT ROWID;
