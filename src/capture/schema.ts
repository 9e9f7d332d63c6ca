/** The statements that make `agent.db`; a later version of the program appends one and changes none. */
export const SCHEMAS: readonly string[] = [
  `
-- What there is one of: the server, the device, the instant reading began, the policy as last heard.
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- A transcript as far as it was read. \`guard\` is the SHA-256 of the bytes before \`offset\` (4 KB at most): another one means
-- another file. \`carry\` is what its reader remembers.
CREATE TABLE sources (
  path TEXT PRIMARY KEY,
  agent TEXT NOT NULL,
  device INTEGER NOT NULL,
  inode INTEGER NOT NULL,
  size INTEGER NOT NULL,
  modified REAL NOT NULL,
  offset INTEGER NOT NULL,
  guard BLOB,
  carry TEXT,
  seen_at INTEGER NOT NULL
) WITHOUT ROWID;

-- Events that were read: the first 16 bytes of the SHA-256 of agent, key and what it says.
CREATE TABLE seen (hash BLOB PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX seen_by_age ON seen (at);

-- The largest output that was told of a model call.
CREATE TABLE calls (id TEXT PRIMARY KEY, output INTEGER NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;

-- A session's facts, without its spans. \`revision\` counts its changes; it is to be sent while that is above \`sent\`.
CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  agent TEXT NOT NULL,
  repo TEXT NOT NULL,
  head TEXT NOT NULL,
  revision INTEGER NOT NULL,
  sent INTEGER NOT NULL,
  sent_at INTEGER,
  changed_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX sessions_unsent ON sessions (changed_at) WHERE revision > sent;

-- The spans of sessions, redacted, as they are sent: those above their session's \`sent\`.
CREATE TABLE spans (
  session TEXT NOT NULL,
  id TEXT NOT NULL,
  revision INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (session, id)
) WITHOUT ROWID;
CREATE INDEX spans_by_revision ON spans (session, revision);

-- Telemetry: a stream a repository. Numbers are given once and never again; \`attempted\` is the last that was sent, heard or not.
CREATE TABLE streams (
  repo TEXT PRIMARY KEY,
  next_seq INTEGER NOT NULL,
  acknowledged INTEGER NOT NULL,
  attempted INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE TABLE entries (
  repo TEXT NOT NULL,
  seq INTEGER NOT NULL,
  at TEXT,
  payload TEXT NOT NULL,
  sent_at INTEGER,
  PRIMARY KEY (repo, seq)
) WITHOUT ROWID;
CREATE INDEX entries_by_sending ON entries (sent_at) WHERE sent_at IS NOT NULL;

-- What the server refused for good, for a person to look at.
CREATE TABLE rejected (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, kind TEXT NOT NULL, reason TEXT NOT NULL, body TEXT NOT NULL);

-- Kinds of records that no reader knows, and how often they were met.
CREATE TABLE unknown_records (agent TEXT NOT NULL, kind TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (agent, kind)) WITHOUT ROWID;

-- When nothing may be recorded: paused by a person, or by the team's policy. Open while \`until\` is null.
CREATE TABLE quiet (since INTEGER NOT NULL, until INTEGER, reason TEXT NOT NULL);

-- What is sent at intervals, and whatever waits after a failure: when it may be tried again.
CREATE TABLE schedule (name TEXT PRIMARY KEY, next_at INTEGER NOT NULL, failures INTEGER NOT NULL DEFAULT 0, reason TEXT) WITHOUT ROWID;

-- Repositories by the folder that agents worked in, and where in its work tree that lies.
CREATE TABLE folders (path TEXT PRIMARY KEY, root TEXT, below TEXT NOT NULL, repo TEXT NOT NULL, looked_at INTEGER NOT NULL) WITHOUT ROWID;

-- Brains as published: the version counter of each repository and what was last sent.
CREATE TABLE brains (repo TEXT PRIMARY KEY, version INTEGER NOT NULL, manifest TEXT NOT NULL, sent_at INTEGER) WITHOUT ROWID;
`,
  `
-- Tells how much waits without a look at what it says.
ALTER TABLE spans ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
UPDATE spans SET bytes = octet_length(body);
DROP INDEX spans_by_revision;
CREATE INDEX spans_by_revision ON spans (session, revision, id, bytes);

-- What the server signed of deliveries that it took.
CREATE TABLE receipts (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, path TEXT NOT NULL, repo TEXT NOT NULL, receipt TEXT NOT NULL);
CREATE INDEX receipts_by_age ON receipts (at);
`,
  `
-- What sessions were asked, redacted, as it is sent; a session's first has the number 0. Beside its facts, which are read and written
-- with every part of a transcript.
CREATE TABLE prompts (
  session TEXT NOT NULL,
  number INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  body TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY (session, number)
) WITHOUT ROWID;
INSERT INTO prompts (session, number, revision, body, bytes)
  SELECT s.id, p.key, s.revision, p.value, octet_length(p.value) FROM sessions s, json_each(s.head, '$.prompts') p;
UPDATE sessions SET head = json_set(head, '$.prompts', json_array_length(head, '$.prompts'));
CREATE INDEX prompts_by_revision ON prompts (session, revision, bytes);
`,
  `
-- Sessions that go on are few among those of years.
CREATE INDEX sessions_by_change ON sessions (changed_at);
`,
];
