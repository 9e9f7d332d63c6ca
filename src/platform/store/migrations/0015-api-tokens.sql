-- Tokens with which programs read a team's records, and how often each is used.
CREATE TABLE api_tokens (
  id            TEXT PRIMARY KEY,
  token_hash    BLOB NOT NULL UNIQUE,
  team_id       TEXT REFERENCES teams (id),
  user_id       TEXT REFERENCES users (id),
  name          TEXT NOT NULL,
  scopes        TEXT NOT NULL,
  created_at    INTEGER NOT NULL,
  expires_at    INTEGER NOT NULL,
  last_used_at  INTEGER,
  revoked_at    INTEGER
) STRICT;
CREATE INDEX api_tokens_by_team ON api_tokens (team_id, created_at);
CREATE INDEX api_tokens_by_user ON api_tokens (user_id) WHERE user_id IS NOT NULL;

CREATE TABLE api_token_days (
  token_id   TEXT NOT NULL REFERENCES api_tokens (id),
  day        INTEGER NOT NULL,
  operation  TEXT NOT NULL,
  reads      INTEGER NOT NULL,
  PRIMARY KEY (token_id, day, operation)
) STRICT, WITHOUT ROWID;
