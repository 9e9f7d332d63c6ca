-- What people ask lists for, under a name.
CREATE TABLE saved_views (
  id          TEXT PRIMARY KEY,
  team_id     TEXT NOT NULL REFERENCES teams (id),
  user_id     TEXT NOT NULL REFERENCES users (id),
  place       TEXT NOT NULL,
  name        TEXT NOT NULL,
  query       TEXT NOT NULL,
  shared      INTEGER NOT NULL CHECK (shared IN (0, 1)),
  created_at  INTEGER NOT NULL,
  UNIQUE (user_id, team_id, place, name)
) STRICT;
CREATE INDEX saved_views_of_place ON saved_views (team_id, place);
