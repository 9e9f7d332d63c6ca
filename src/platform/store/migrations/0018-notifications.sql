-- What happened that somebody outside may want to hear of.
CREATE TABLE notices (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  event_id   TEXT NOT NULL UNIQUE,
  type       TEXT NOT NULL,
  team_id    TEXT REFERENCES teams (id),
  at         INTEGER NOT NULL,
  path       TEXT NOT NULL,
  data       TEXT NOT NULL,
  device_id  TEXT,
  repo_key   TEXT,
  once_key   TEXT UNIQUE,
  addressed  INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX notices_new ON notices (id) WHERE addressed = 0;
CREATE INDEX notices_by_team ON notices (team_id);

-- Who hears of it, and how: a webhook, a chat, mail. Of a team, or of the installation where there is none. A secret signs what is
-- sent; two do while it is being replaced.
CREATE TABLE notification_channels (
  id                TEXT PRIMARY KEY,
  team_id           TEXT REFERENCES teams (id),
  kind              TEXT NOT NULL CHECK (kind IN ('webhook', 'slack', 'teams', 'mail')),
  name              TEXT NOT NULL,
  target            TEXT NOT NULL,
  events            TEXT NOT NULL,
  secret            TEXT,
  previous_secret   TEXT,
  rotated_at        INTEGER,
  created_at        INTEGER NOT NULL,
  disabled_at       INTEGER,
  disabled_because  TEXT CHECK (disabled_because IN ('paused', 'gone')),
  removed_at        INTEGER
) STRICT;
CREATE INDEX notification_channels_by_team ON notification_channels (team_id) WHERE removed_at IS NULL;

-- What is to be sent to a channel, and what became of it: `due_at` is null once that is decided.
CREATE TABLE notification_messages (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  message_id   TEXT NOT NULL UNIQUE,
  channel_id   TEXT NOT NULL REFERENCES notification_channels (id),
  type         TEXT,
  notices      TEXT NOT NULL,
  more         INTEGER NOT NULL DEFAULT 0,
  first_at     INTEGER NOT NULL,
  due_at       INTEGER,
  tries        INTEGER NOT NULL DEFAULT 0,
  state        TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed')),
  last_at      INTEGER,
  outcome      TEXT
) STRICT;
CREATE INDEX notification_messages_due ON notification_messages (due_at, channel_id) WHERE due_at IS NOT NULL;
CREATE INDEX notification_messages_by_channel ON notification_messages (channel_id, id);

-- Conditions that were told of when they began, and are until they are over.
CREATE TABLE alarms (
  key       TEXT PRIMARY KEY,
  began_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
