-- Derived: what a session is found by. `words` is in lower case and holds its title, its agent's id, its branch and the beginnings of its
-- commits.
CREATE TABLE session_finds (
  team_id     TEXT NOT NULL,
  session_id  INTEGER NOT NULL REFERENCES trace_sessions (id),
  title       TEXT NOT NULL,
  repo_key    TEXT NOT NULL,
  branch      TEXT NOT NULL,
  words       TEXT NOT NULL,
  PRIMARY KEY (team_id, session_id)
) STRICT, WITHOUT ROWID;
