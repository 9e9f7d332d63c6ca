-- The whole database, as a new instance gets it. src/platform/store/migrations/NNNN-* brings older files to the same shape. Instants
-- (`*_at`) are milliseconds since the Unix epoch. Who did something (`*_by`, except for erasures and holds) is the id of a person or a
-- device, since an address may pass to somebody else; anybody else is named in words. `''` as repo_key means that the client named no
-- repository.

-- `binding_closed_at` is when members were forbidden to connect machines of their own; null while they may. `moved_to` is the address of
-- the instance that serves the team since `moved_at`; `move_confirmed_at` is when somebody confirmed that it does.
CREATE TABLE teams (
  id                       TEXT PRIMARY KEY,
  name                     TEXT NOT NULL UNIQUE,
  tier                     TEXT NOT NULL CHECK (tier IN ('none', 'starter', 'team', 'enterprise')),
  seats                    INTEGER NOT NULL CHECK (seats >= 0),
  subscription             TEXT NOT NULL CHECK (subscription IN ('active', 'trialing', 'past_due', 'canceled', 'none')),
  subscription_changed_at  INTEGER NOT NULL,
  period_end_at            INTEGER,
  suspended_at             INTEGER,
  created_at               INTEGER NOT NULL,
  verified_at              INTEGER,
  binding_closed_at        INTEGER,
  second_factor_since INTEGER,
  moved_to                 TEXT,
  moved_at                 INTEGER,
  move_confirmed_at        INTEGER
) STRICT;

-- No foreign key: a code outlives its team, so that its holder learns that the team is gone. `person_id` is the person who gets the
-- machine; null for nobody. `uses` is how many machines it may connect, `used` how many it did; `consumed_at` is when the last of them
-- came, and `device_id` the machine of a code for one.
CREATE TABLE connect_codes (
  code_hash    BLOB PRIMARY KEY,
  team_id      TEXT NOT NULL,
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER NOT NULL,
  consumed_at  INTEGER,
  device_id    TEXT,
  created_by   TEXT,
  person_id    TEXT,
  uses         INTEGER NOT NULL DEFAULT 1 CHECK (uses > 0),
  used         INTEGER NOT NULL DEFAULT 0 CHECK (used <= uses),
  binds_for_ms INTEGER CHECK (binds_for_ms BETWEEN 60000 AND 604800000)
) STRICT;
CREATE INDEX connect_codes_by_team ON connect_codes (team_id, expires_at);

-- `person_id` is the person who has the machine now; null for nobody. `ends_at` is when the binding of a machine that lives for one job
-- ends.
CREATE TABLE devices (
  id               TEXT PRIMARY KEY,
  team_id          TEXT NOT NULL REFERENCES teams (id),
  label            TEXT,
  consent_version  TEXT NOT NULL,
  created_at       INTEGER NOT NULL,
  last_seen_at     INTEGER,
  revoked_at       INTEGER,
  user_agent       TEXT,
  person_id        TEXT REFERENCES users (id),
  ends_at          INTEGER
) STRICT;
CREATE INDEX devices_by_team ON devices (team_id, created_at);
CREATE INDEX devices_by_person ON devices (person_id) WHERE person_id IS NOT NULL;

CREATE TABLE device_tokens (
  token_hash   BLOB PRIMARY KEY,
  device_id    TEXT NOT NULL REFERENCES devices (id),
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER,
  replaced_at  INTEGER
) STRICT;
CREATE INDEX device_tokens_by_device ON device_tokens (device_id);

CREATE TABLE signing_keys (
  kid         TEXT PRIMARY KEY,
  alg         TEXT NOT NULL,
  public_pem  TEXT NOT NULL,
  created_at  INTEGER NOT NULL,
  retired_at  INTEGER
) STRICT;
CREATE UNIQUE INDEX signing_keys_one_active ON signing_keys ((retired_at IS NULL)) WHERE retired_at IS NULL;

-- The private keys under a passphrase, so that a replica of the database has them; at most one row.
CREATE TABLE wrapped_keys (
  id         INTEGER PRIMARY KEY CHECK (id = 1),
  kid        TEXT NOT NULL,
  salt       BLOB NOT NULL,
  sealed     TEXT NOT NULL,
  wrapped_at INTEGER NOT NULL
) STRICT;

CREATE TABLE policies (
  id          INTEGER PRIMARY KEY,
  team_id     TEXT NOT NULL REFERENCES teams (id),
  document    TEXT NOT NULL,
  created_at  INTEGER NOT NULL,
  created_by  TEXT
) STRICT;
CREATE INDEX policies_by_team ON policies (team_id, id);

-- The log: a leaf of its Merkle tree for each delivery that changed anything, each event of the audit, and each epoch. `n` counts
-- from 1 on, `sha256` is the leaf's hash (RFC 6962).
CREATE TABLE log_leaves (
  n       INTEGER PRIMARY KEY,
  sha256  BLOB NOT NULL
) STRICT;

-- Derived: the roots of the tree's complete subtrees of 256 leaves, from 0 on.
CREATE TABLE log_subtrees (
  n       INTEGER PRIMARY KEY,
  sha256  BLOB NOT NULL
) STRICT;

-- The names under which the log was signed. `data` is a JSON object.
CREATE TABLE log_epochs (
  leaf  INTEGER PRIMARY KEY,
  data  TEXT NOT NULL
) STRICT;

-- A team's part of another instance's log, which came with the team. `data` is a JSON object that names the head of that log.
CREATE TABLE log_imports (
  leaf     INTEGER PRIMARY KEY,
  team_id  TEXT NOT NULL REFERENCES teams (id),
  data     TEXT NOT NULL
) STRICT;
CREATE INDEX log_imports_by_team ON log_imports (team_id);

-- The leaves of a moved team: `origin` is the number there, `leaf` the number here. The two have the same hash.
CREATE TABLE log_import_leaves (
  import_leaf  INTEGER NOT NULL REFERENCES log_imports (leaf),
  origin       INTEGER NOT NULL,
  leaf         INTEGER NOT NULL,
  PRIMARY KEY (import_leaf, origin)
) STRICT, WITHOUT ROWID;

-- Roots of the subtrees between a moved team's leaves, which prove them against the root that the other instance signed. Each has 2^`level`
-- leaves, the first of them with the index `first`.
CREATE TABLE log_import_nodes (
  import_leaf  INTEGER NOT NULL REFERENCES log_imports (leaf),
  first        INTEGER NOT NULL,
  level        INTEGER NOT NULL,
  sha256       BLOB NOT NULL,
  PRIMARY KEY (import_leaf, first)
) STRICT, WITHOUT ROWID;

-- One device's deliveries of a kind for one repository; `last` is the newest of them.
CREATE TABLE delivery_streams (
  id         INTEGER PRIMARY KEY,
  device_id  TEXT NOT NULL REFERENCES devices (id),
  kind       TEXT NOT NULL CHECK (kind IN ('telemetry', 'brain', 'traces')),
  repo_key   TEXT NOT NULL,
  last       INTEGER NOT NULL,
  UNIQUE (device_id, kind, repo_key)
) STRICT;

-- One row for each delivery that changed anything; `id` is the number of its leaf. `content_sha256` is the root over its `item_count`
-- items, whose salts follow from `item_key`; `sent_sha256` is the digest of the body as sent and a salt that only the sender knows.
-- `previous` is the delivery before it in its stream. Rows from before there was a tree were chained by hash instead: `chain_sha256` is the
-- digest of the row and all before it, `content_sha256` that of the content. `capture_mode` is the mode in force when it came, null where
-- that was not noted yet; `withheld` counts the items of which the mode kept something from being stored. `erased_by` is the last erasure
-- of any of its items, `erased_items` the number of its items that are gone; the row stays. After an erasure `item_salts` has the salts of
-- the other items and the key is gone: with the key, erased text could be guessed from its hash. `moved_from` is a JSON object with what
-- its leaf was made of in the log of the instance that it came from with its team; null where it came here.
CREATE TABLE deliveries (
  id              INTEGER PRIMARY KEY,
  team_id         TEXT NOT NULL REFERENCES teams (id),
  device_id       TEXT NOT NULL REFERENCES devices (id),
  kind            TEXT NOT NULL CHECK (kind IN ('telemetry', 'brain', 'traces')),
  repo_key        TEXT NOT NULL,
  mode            TEXT,
  received_at     INTEGER NOT NULL,
  items           INTEGER NOT NULL,
  redacted        INTEGER NOT NULL,
  flagged         TEXT CHECK (flagged IN ('gap', 'rollback')),
  content_sha256  BLOB NOT NULL,
  chain_sha256    BLOB,
  capture_mode    TEXT CHECK (capture_mode IN ('off', 'metadata', 'redacted', 'full')),
  withheld        INTEGER NOT NULL DEFAULT 0,
  stream_id       INTEGER REFERENCES delivery_streams (id),
  previous        INTEGER,
  item_count      INTEGER,
  item_key        BLOB,
  sent_sha256     BLOB,
  item_salts      BLOB,
  erased_by       TEXT REFERENCES erasures (id),
  erased_items    INTEGER NOT NULL DEFAULT 0,
  moved_from      TEXT
) STRICT;
CREATE INDEX deliveries_by_team ON deliveries (team_id, id);
CREATE INDEX deliveries_flagged ON deliveries (team_id, id) WHERE flagged IS NOT NULL;

-- Hashes of items whose content was replaced or erased since, so that their delivery's root can still be made. `item` counts from 1 on.
CREATE TABLE delivery_items (
  delivery_id  INTEGER NOT NULL REFERENCES deliveries (id),
  item         INTEGER NOT NULL,
  sha256       BLOB NOT NULL,
  PRIMARY KEY (delivery_id, item)
) STRICT, WITHOUT ROWID;

CREATE TABLE telemetry_streams (
  id              INTEGER PRIMARY KEY,
  team_id         TEXT NOT NULL REFERENCES teams (id),
  device_id       TEXT NOT NULL REFERENCES devices (id),
  repo_key        TEXT NOT NULL,
  max_seq         INTEGER NOT NULL,
  entry_count     INTEGER NOT NULL,
  conflict_count  INTEGER NOT NULL,
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  UNIQUE (device_id, repo_key)
) STRICT;
CREATE INDEX telemetry_streams_by_team ON telemetry_streams (team_id, updated_at);

CREATE TABLE telemetry_gaps (
  stream_id  INTEGER NOT NULL REFERENCES telemetry_streams (id),
  from_seq   INTEGER NOT NULL,
  to_seq     INTEGER NOT NULL,
  PRIMARY KEY (stream_id, from_seq)
) STRICT, WITHOUT ROWID;

-- The entries of a delivery, or of a part of it: `entries` of them, with consecutive ids from `first_id` on, in the order of seq. Segments
-- of one stream never overlap. `texts` holds, for each entry, seq, client timestamp ('' for none) and payload, each followed by a NUL, in
-- UTF-8; the payload is the JSON text as sent, byte for byte but for redactions. Once sealed, `texts` is null, and the `bytes` of it begin
-- at `block_at` of the block's plain text.
CREATE TABLE telemetry_segments (
  first_id     INTEGER PRIMARY KEY,
  stream_id    INTEGER NOT NULL,
  first_seq    INTEGER NOT NULL,
  last_seq     INTEGER NOT NULL,
  entries      INTEGER NOT NULL,
  delivery_id  INTEGER NOT NULL,
  block_id     INTEGER,
  block_at     INTEGER,
  bytes        INTEGER NOT NULL,
  texts        BLOB
) STRICT;
CREATE UNIQUE INDEX telemetry_segments_by_seq ON telemetry_segments (stream_id, first_seq);
CREATE INDEX telemetry_segments_unsealed ON telemetry_segments (stream_id, first_seq) WHERE block_id IS NULL;
CREATE INDEX telemetry_segments_by_block ON telemetry_segments (block_id) WHERE block_id IS NOT NULL;

-- `content` is the texts of the segments in the block, end to end, compressed with zstd (RFC 8878). The content of an id never changes, and
-- no id is given twice: texts are cached in memory by it.
CREATE TABLE telemetry_blocks (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  stream_id  INTEGER NOT NULL,
  content    BLOB NOT NULL
) STRICT;

-- Entries whose seq was already taken by other content: kept as evidence, never overwriting.
CREATE TABLE telemetry_conflicts (
  id                INTEGER PRIMARY KEY,
  stream_id         INTEGER NOT NULL REFERENCES telemetry_streams (id),
  seq               INTEGER NOT NULL,
  delivery_id       INTEGER NOT NULL REFERENCES deliveries (id),
  client_timestamp  TEXT,
  payload           TEXT NOT NULL,
  content_sha256    BLOB NOT NULL,
  item              INTEGER,
  UNIQUE (stream_id, seq, content_sha256)
) STRICT;
CREATE INDEX telemetry_conflicts_by_stream ON telemetry_conflicts (stream_id, id);

-- Numbers of streams (seq of telemetry, version of a brain; `stream_id` refers to the table of the kind) that came while nothing was to be
-- recorded: their content is not stored. The ranges of one stream do not overlap.
CREATE TABLE withheld_ranges (
  id           INTEGER PRIMARY KEY,
  kind         TEXT NOT NULL CHECK (kind IN ('telemetry', 'brain')),
  stream_id    INTEGER NOT NULL,
  first        INTEGER NOT NULL,
  last         INTEGER NOT NULL CHECK (last >= first),
  delivery_id  INTEGER NOT NULL REFERENCES deliveries (id),
  UNIQUE (kind, stream_id, first)
) STRICT;

-- Deliveries of a device with content that its team's policy does not let be recorded.
CREATE TABLE policy_violations (
  device_id   TEXT PRIMARY KEY REFERENCES devices (id),
  deliveries  INTEGER NOT NULL,
  last_at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What was erased, at somebody's request or at the end of its retention. `target` is a JSON object that names it by ids. All that was
-- received up to `requested_at` is erased; `counts` is a JSON object with the number of erased rows.
CREATE TABLE erasures (
  id            TEXT PRIMARY KEY,
  kind          TEXT NOT NULL CHECK (kind IN ('person', 'device', 'session', 'entry', 'repo', 'retention')),
  team_id       TEXT,
  target        TEXT NOT NULL,
  reason        TEXT NOT NULL,
  requested_by  TEXT NOT NULL,
  requested_at  INTEGER NOT NULL,
  counts        TEXT NOT NULL DEFAULT '{}',
  completed_at  INTEGER,
  reclaimed_at  INTEGER
) STRICT;
CREATE INDEX erasures_unfinished ON erasures (requested_at) WHERE completed_at IS NULL;
CREATE INDEX erasures_unreclaimed ON erasures (completed_at) WHERE reclaimed_at IS NULL AND completed_at IS NOT NULL;
CREATE INDEX erasures_nightly ON erasures (team_id, requested_at) WHERE kind = 'retention';
CREATE INDEX erasures_requested ON erasures (requested_at, id) WHERE kind <> 'retention';

-- Holds: what is neither erased nor removed at the end of its retention. `session` is the session's id as its agent named it.
CREATE TABLE holds (
  id           TEXT PRIMARY KEY,
  kind         TEXT NOT NULL CHECK (kind IN ('team', 'device', 'session')),
  team_id      TEXT NOT NULL REFERENCES teams (id),
  device_id    TEXT REFERENCES devices (id),
  session      TEXT,
  reason       TEXT NOT NULL,
  placed_by    TEXT NOT NULL,
  placed_at    INTEGER NOT NULL,
  released_by  TEXT,
  released_at  INTEGER
) STRICT;
CREATE INDEX holds_in_force ON holds (team_id) WHERE released_at IS NULL;

-- Retention in days. What has no row here is kept for ever.
CREATE TABLE retention_rules (
  team_id  TEXT NOT NULL REFERENCES teams (id),
  kind     TEXT NOT NULL CHECK (kind IN ('telemetry', 'brain', 'traces', 'reads', 'audit', 'web-sessions')),
  days     INTEGER NOT NULL CHECK (days > 0),
  PRIMARY KEY (team_id, kind)
) STRICT, WITHOUT ROWID;

-- Numbers of blobs, manifests, snapshots and trace sessions are never given twice, since other tables refer to them.
CREATE TABLE brain_streams (
  id            INTEGER PRIMARY KEY,
  team_id       TEXT NOT NULL REFERENCES teams (id),
  device_id     TEXT NOT NULL REFERENCES devices (id),
  repo_key      TEXT NOT NULL,
  last_version  INTEGER NOT NULL,
  UNIQUE (device_id, repo_key)
) STRICT;

-- `content` is empty once it lies in a block, as `bytes` from `block_at` on. Where the policy let only path, size and digest be kept,
-- `content` is empty, `withheld_sha256` is the digest of what was sent after redaction, and `sha256` that of size and digest.
CREATE TABLE brain_blobs (
  id               INTEGER PRIMARY KEY AUTOINCREMENT,
  team_id          TEXT NOT NULL REFERENCES teams (id),
  sha256           BLOB NOT NULL,
  rules_version    TEXT NOT NULL,
  bytes            INTEGER NOT NULL,
  content          TEXT NOT NULL,
  withheld_sha256  BLOB,
  block_id         INTEGER,
  block_at         INTEGER,
  UNIQUE (team_id, sha256)
) STRICT;
CREATE INDEX brain_blobs_unsealed ON brain_blobs (team_id, id) WHERE block_id IS NULL AND withheld_sha256 IS NULL AND bytes > 0;
CREATE INDEX brain_blobs_by_block ON brain_blobs (block_id, block_at) WHERE block_id IS NOT NULL;

-- `content` is the contents of blobs, end to end, compressed with zstd (RFC 8878). The content of an id never changes, and no id is given
-- twice: texts are cached in memory by it.
CREATE TABLE brain_blocks (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  team_id  TEXT NOT NULL REFERENCES teams (id),
  content  BLOB NOT NULL
) STRICT;

-- `entries` is a JSON array of [path, blob id], sorted by path.
CREATE TABLE brain_manifests (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  team_id  TEXT NOT NULL REFERENCES teams (id),
  sha256   BLOB NOT NULL,
  files    INTEGER NOT NULL,
  bytes    INTEGER NOT NULL,
  entries  TEXT NOT NULL,
  UNIQUE (team_id, sha256)
) STRICT;

CREATE TABLE brain_snapshots (
  id                INTEGER PRIMARY KEY AUTOINCREMENT,
  stream_id         INTEGER NOT NULL REFERENCES brain_streams (id),
  team_id           TEXT NOT NULL REFERENCES teams (id),
  repo_key          TEXT NOT NULL,
  version           INTEGER NOT NULL,
  manifest_id       INTEGER NOT NULL REFERENCES brain_manifests (id),
  delivery_id       INTEGER NOT NULL REFERENCES deliveries (id),
  accepted          INTEGER NOT NULL CHECK (accepted IN (0, 1)),
  gap               INTEGER NOT NULL CHECK (gap IN (0, 1)),
  redaction_hits    INTEGER NOT NULL,
  client_timestamp  TEXT,
  UNIQUE (stream_id, version, manifest_id)
) STRICT;
CREATE INDEX brain_snapshots_by_repo ON brain_snapshots (team_id, repo_key, id);
CREATE INDEX brain_snapshots_by_manifest ON brain_snapshots (manifest_id);

-- The newest accepted snapshot of a repository, of any of the team's devices.
CREATE TABLE brain_currents (
  team_id      TEXT NOT NULL REFERENCES teams (id),
  repo_key     TEXT NOT NULL,
  snapshot_id  INTEGER NOT NULL REFERENCES brain_snapshots (id),
  PRIMARY KEY (team_id, repo_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX brain_currents_by_snapshot ON brain_currents (snapshot_id);

-- `document` is the session object as sent, without its spans, after redaction and merging. `item` is its place among the items of its
-- delivery, as with spans and labels; null for what came before there were items. `exported`: 0 when a client sent it as a whole, 1 when it
-- was only exported over OTLP, 2 when it was exported and a client sent it on another device of the team: such a row stands in no list.
-- `user_email` is the person whom the agent names as signed in, in lower case; when the client's session names nobody, the exported one's
-- counts. `unsealed_since`: when the first of its spans came whose document is in no block yet; null when all are, 0 in databases from
-- before blocks.
CREATE TABLE trace_sessions (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  team_id      TEXT NOT NULL REFERENCES teams (id),
  device_id    TEXT NOT NULL REFERENCES devices (id),
  repo_key     TEXT NOT NULL,
  external_id  TEXT NOT NULL,
  outcome      TEXT NOT NULL,
  agent        TEXT,
  model        TEXT,
  branch       TEXT,
  started_at   INTEGER,
  ended_at     INTEGER,
  document     TEXT NOT NULL,
  delivery_id  INTEGER NOT NULL REFERENCES deliveries (id),
  created_at   INTEGER NOT NULL,
  updated_at   INTEGER NOT NULL,
  item         INTEGER,
  exported     INTEGER NOT NULL DEFAULT 0,
  user_email   TEXT,
  unsealed_since  INTEGER DEFAULT 0,
  UNIQUE (device_id, external_id)
) STRICT;
CREATE INDEX trace_sessions_recent ON trace_sessions (team_id, started_at, id);
CREATE INDEX trace_sessions_by_team ON trace_sessions (team_id, repo_key, started_at);
CREATE INDEX trace_sessions_by_delivery ON trace_sessions (delivery_id);
CREATE INDEX trace_sessions_by_name ON trace_sessions (team_id, external_id, exported);
CREATE INDEX trace_sessions_unlisted ON trace_sessions (team_id, repo_key, model, agent) WHERE exported = 2;
CREATE INDEX trace_sessions_unsealed ON trace_sessions (unsealed_since) WHERE unsealed_since IS NOT NULL;
CREATE TRIGGER trace_sessions_whole_in AFTER INSERT ON trace_sessions WHEN NEW.exported = 0 BEGIN
  UPDATE trace_sessions SET exported = 2 WHERE team_id = NEW.team_id AND external_id = NEW.external_id AND exported = 1;
END;
CREATE TRIGGER trace_sessions_whole_over AFTER UPDATE OF exported ON trace_sessions WHEN OLD.exported > 0 AND NEW.exported = 0 BEGIN
  UPDATE trace_sessions SET exported = 2 WHERE team_id = NEW.team_id AND external_id = NEW.external_id AND exported = 1;
END;
CREATE TRIGGER trace_sessions_whole_out AFTER DELETE ON trace_sessions WHEN OLD.exported = 0
  AND NOT EXISTS (SELECT 1 FROM trace_sessions WHERE team_id = OLD.team_id AND external_id = OLD.external_id AND exported = 0) BEGIN
  UPDATE trace_sessions SET exported = 1 WHERE team_id = OLD.team_id AND external_id = OLD.external_id AND exported = 2;
END;

-- Sessions counted by day of beginning (UTC, days since the epoch) and the first 40 characters of their outcome; triggers keep it exact.
-- Sessions without a start are in no day.
CREATE TABLE trace_session_days (
  team_id   TEXT NOT NULL REFERENCES teams (id),
  day       INTEGER NOT NULL,
  outcome   TEXT NOT NULL,
  sessions  INTEGER NOT NULL,
  PRIMARY KEY (team_id, day, outcome)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER trace_sessions_day_in AFTER INSERT ON trace_sessions WHEN NEW.started_at IS NOT NULL AND NEW.exported < 2 BEGIN
  INSERT INTO trace_session_days (team_id, day, outcome, sessions)
  VALUES (NEW.team_id, NEW.started_at / 86400000, substr(NEW.outcome, 1, 40), 1)
  ON CONFLICT (team_id, day, outcome) DO UPDATE SET sessions = sessions + 1;
END;
CREATE TRIGGER trace_sessions_day_out AFTER DELETE ON trace_sessions WHEN OLD.started_at IS NOT NULL AND OLD.exported < 2 BEGIN
  UPDATE trace_session_days SET sessions = sessions - 1
  WHERE team_id = OLD.team_id AND day = OLD.started_at / 86400000 AND outcome = substr(OLD.outcome, 1, 40);
  DELETE FROM trace_session_days
  WHERE team_id = OLD.team_id AND day = OLD.started_at / 86400000 AND outcome = substr(OLD.outcome, 1, 40) AND sessions <= 0;
END;
CREATE TRIGGER trace_sessions_day_over AFTER UPDATE OF team_id, started_at, outcome, exported ON trace_sessions
WHEN OLD.started_at IS NOT NEW.started_at OR OLD.outcome <> NEW.outcome OR OLD.team_id <> NEW.team_id
  OR (OLD.exported < 2) <> (NEW.exported < 2) BEGIN
  UPDATE trace_session_days SET sessions = sessions - 1
  WHERE OLD.exported < 2 AND team_id = OLD.team_id AND day = OLD.started_at / 86400000 AND outcome = substr(OLD.outcome, 1, 40);
  DELETE FROM trace_session_days
  WHERE team_id = OLD.team_id AND day = OLD.started_at / 86400000 AND outcome = substr(OLD.outcome, 1, 40) AND sessions <= 0;
  INSERT INTO trace_session_days (team_id, day, outcome, sessions)
  SELECT NEW.team_id, NEW.started_at / 86400000, substr(NEW.outcome, 1, 40), 1 WHERE NEW.started_at IS NOT NULL AND NEW.exported < 2
  ON CONFLICT (team_id, day, outcome) DO UPDATE SET sessions = sessions + 1;
END;

-- Once sealed, `document` is empty, and the `bytes` of it begin at `block_at` of the block's plain text.
CREATE TABLE trace_spans (
  id           INTEGER PRIMARY KEY,
  session_id   INTEGER NOT NULL,
  external_id  TEXT NOT NULL,
  parent_id    TEXT,
  name         TEXT,
  kind         TEXT,
  started_at   INTEGER,
  ended_at     INTEGER,
  document     TEXT NOT NULL,
  delivery_id  INTEGER NOT NULL,
  item         INTEGER,
  signs        INTEGER,
  block_id     INTEGER,
  block_at     INTEGER,
  bytes        INTEGER
) STRICT;
CREATE UNIQUE INDEX trace_spans_by_session ON trace_spans (session_id, external_id);
CREATE INDEX trace_spans_by_delivery ON trace_spans (delivery_id, item) WHERE item IS NOT NULL;
CREATE INDEX trace_spans_by_arrival ON trace_spans (session_id, id, started_at, ended_at, delivery_id, signs);

-- Documents of a session's spans from `first_span` to `last_span`, end to end, compressed with zstd (RFC 8878). Blocks of one session do
-- not overlap. The content of an id never changes, and no id is given twice: texts are cached in memory by it. `replaced`: 1 when a span
-- was sent again since, so that its former document still lies here.
CREATE TABLE trace_span_blocks (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id  INTEGER NOT NULL,
  first_span  INTEGER NOT NULL,
  last_span   INTEGER NOT NULL,
  replaced    INTEGER NOT NULL DEFAULT 0,
  content     BLOB NOT NULL
) STRICT;
CREATE INDEX trace_span_blocks_by_session ON trace_span_blocks (session_id, last_span);
CREATE INDEX trace_span_blocks_replaced ON trace_span_blocks (session_id) WHERE replaced;
CREATE TRIGGER trace_spans_replaced AFTER UPDATE OF block_id ON trace_spans WHEN OLD.block_id IS NOT NULL AND NEW.block_id IS NULL BEGIN
  UPDATE trace_span_blocks SET replaced = 1 WHERE id = OLD.block_id;
END;

CREATE TABLE trace_labels (
  id              INTEGER PRIMARY KEY,
  team_id         TEXT NOT NULL REFERENCES teams (id),
  device_id       TEXT NOT NULL REFERENCES devices (id),
  repo_key        TEXT NOT NULL,
  session_id      TEXT,
  span_id         TEXT,
  name            TEXT,
  document        TEXT NOT NULL,
  content_sha256  BLOB NOT NULL,
  delivery_id     INTEGER NOT NULL REFERENCES deliveries (id),
  item            INTEGER,
  UNIQUE (device_id, repo_key, content_sha256)
) STRICT;
CREATE INDEX trace_labels_by_session ON trace_labels (device_id, session_id);
CREATE INDEX trace_labels_by_delivery ON trace_labels (delivery_id, item) WHERE item IS NOT NULL;

-- Notes of commits: which session wrote which lines, byte for byte as sent. `created_at` is when a note of the commit came first.
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

-- People. `email_key` is the address as it is compared: trimmed, NFKC, lower case.
CREATE TABLE users (
  id             TEXT PRIMARY KEY,
  email          TEXT NOT NULL,
  email_key      TEXT NOT NULL UNIQUE,
  name           TEXT,
  password_hash  TEXT,
  operator       INTEGER NOT NULL CHECK (operator IN (0, 1)),
  created_at     INTEGER NOT NULL,
  disabled_at    INTEGER
) STRICT;

-- `source` is the id of the issuer whose groups made somebody a member; null when a person did.
CREATE TABLE memberships (
  team_id     TEXT NOT NULL REFERENCES teams (id),
  user_id     TEXT NOT NULL REFERENCES users (id),
  role        TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer', 'own_only')),
  created_at  INTEGER NOT NULL,
  source      TEXT,
  PRIMARY KEY (team_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX memberships_by_user ON memberships (user_id, team_id);

-- One-time links: the first operator's set-up, an invitation into a team, a password reset. `maker_id` is the person with whose rights the
-- link works; null for the command line. `team_id` of a reset is the team whose admin made it.
CREATE TABLE one_time_links (
  id          TEXT PRIMARY KEY,
  token_hash  BLOB NOT NULL UNIQUE,
  kind        TEXT NOT NULL CHECK (kind IN ('setup', 'invitation', 'reset')),
  team_id     TEXT REFERENCES teams (id),
  role        TEXT CHECK (role IN ('owner', 'admin', 'member', 'viewer', 'own_only')),
  email       TEXT,
  user_id     TEXT REFERENCES users (id),
  created_by  TEXT,
  created_at  INTEGER NOT NULL,
  expires_at  INTEGER NOT NULL,
  used_at     INTEGER,
  revoked_at  INTEGER,
  maker_id    TEXT REFERENCES users (id)
) STRICT;
CREATE INDEX one_time_links_by_team ON one_time_links (team_id, created_at);
CREATE INDEX one_time_links_by_user ON one_time_links (user_id);

-- A person's sign-ins. `team_id` is the team whose pages are shown; `method` is how they signed in: the name of an issuer of single
-- sign-on, or null for a password or a link.
CREATE TABLE web_sessions (
  id            TEXT PRIMARY KEY,
  token_hash    BLOB NOT NULL UNIQUE,
  user_id       TEXT NOT NULL REFERENCES users (id),
  team_id       TEXT REFERENCES teams (id),
  ip            TEXT NOT NULL,
  user_agent    TEXT,
  created_at    INTEGER NOT NULL,
  last_seen_at  INTEGER NOT NULL,
  expires_at    INTEGER NOT NULL,
  ended_at      INTEGER,
  method        TEXT,
  second_factor_at INTEGER
) STRICT;
CREATE INDEX web_sessions_by_user ON web_sessions (user_id, ended_at, created_at);

-- Second factors of people: authenticator apps (`secret`, and `last_step`, the last step of time whose code was used), passkeys (a public
-- key as SPKI, and its count of signatures), and recovery codes, which work once.
CREATE TABLE second_factors (
  id             TEXT PRIMARY KEY,
  user_id        TEXT NOT NULL REFERENCES users (id),
  kind           TEXT NOT NULL CHECK (kind IN ('totp', 'passkey')),
  name           TEXT NOT NULL,
  secret         BLOB,
  last_step      INTEGER,
  credential_id  BLOB UNIQUE,
  public_key     BLOB,
  sign_count     INTEGER,
  created_at     INTEGER NOT NULL,
  last_used_at   INTEGER
) STRICT;
CREATE INDEX second_factors_by_user ON second_factors (user_id, created_at);

CREATE TABLE recovery_codes (
  user_id    TEXT NOT NULL REFERENCES users (id),
  code_hash  BLOB NOT NULL,
  used_at    INTEGER,
  PRIMARY KEY (user_id, code_hash)
) STRICT, WITHOUT ROWID;

-- Single sign-on (OpenID Connect): issuers, what their groups mean here, and the people they sign in. `domains` is a JSON list;
-- `group_name` may be `*`, a group of everybody.
CREATE TABLE sso_issuers (
  id             TEXT PRIMARY KEY,
  name           TEXT NOT NULL UNIQUE,
  issuer         TEXT NOT NULL,
  client_id      TEXT NOT NULL,
  client_secret  TEXT,
  label          TEXT NOT NULL,
  scopes         TEXT NOT NULL,
  groups_claim   TEXT NOT NULL,
  domains        TEXT NOT NULL,
  jit            INTEGER NOT NULL CHECK (jit IN (0, 1)),
  trust_email    INTEGER NOT NULL CHECK (trust_email IN (0, 1)),
  session_hours  INTEGER NOT NULL,
  created_at     INTEGER NOT NULL,
  UNIQUE (issuer, client_id)
) STRICT;

CREATE TABLE sso_groups (
  issuer_id   TEXT NOT NULL REFERENCES sso_issuers (id),
  group_name  TEXT NOT NULL,
  team_id     TEXT NOT NULL REFERENCES teams (id),
  role        TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer', 'own_only')),
  PRIMARY KEY (issuer_id, group_name, team_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE sso_identities (
  issuer_id     TEXT NOT NULL REFERENCES sso_issuers (id),
  subject       TEXT NOT NULL,
  user_id       TEXT NOT NULL REFERENCES users (id),
  created_at    INTEGER NOT NULL,
  last_used_at  INTEGER,
  PRIMARY KEY (issuer_id, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX sso_identities_by_user ON sso_identities (user_id);

-- Every account that an issuer was ever linked with. It stays when the link ends, so that nobody else gets the account by an address that
-- they were given since.
CREATE TABLE sso_holders (
  user_id    TEXT NOT NULL REFERENCES users (id),
  issuer_id  TEXT NOT NULL REFERENCES sso_issuers (id),
  subject    TEXT NOT NULL,
  PRIMARY KEY (user_id, issuer_id, subject)
) STRICT, WITHOUT ROWID;

-- Provisioning (SCIM, RFC 7643): what an issuer's directory says of people and groups, and the tokens that it signs in with. `user_key` and
-- `display_key` are names in the form in which they are compared. `closed`: the directory closed the account. `pending`: memberships still
-- have to follow groups. `ended_at`: when the directory let go of somebody. `former_addresses` are people's addresses before the directory
-- changed them, for erasing them.
CREATE TABLE scim_tokens (
  id            TEXT PRIMARY KEY,
  issuer_id     TEXT NOT NULL REFERENCES sso_issuers (id),
  token_hash    BLOB NOT NULL UNIQUE,
  created_at    INTEGER NOT NULL,
  last_used_at  INTEGER,
  revoked_at    INTEGER
) STRICT;
CREATE INDEX scim_tokens_by_issuer ON scim_tokens (issuer_id, created_at);

CREATE TABLE scim_users (
  id            TEXT PRIMARY KEY,
  issuer_id     TEXT NOT NULL REFERENCES sso_issuers (id),
  user_id       TEXT NOT NULL REFERENCES users (id),
  user_name     TEXT NOT NULL,
  user_key      TEXT NOT NULL,
  external_id   TEXT,
  given_name    TEXT,
  family_name   TEXT,
  formatted     TEXT,
  display_name  TEXT,
  display_key   TEXT,
  closed        INTEGER NOT NULL CHECK (closed IN (0, 1)),
  pending       INTEGER NOT NULL CHECK (pending IN (0, 1)),
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL,
  ended_at      INTEGER
) STRICT;
CREATE UNIQUE INDEX scim_users_by_key ON scim_users (issuer_id, user_key) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX scim_users_by_account ON scim_users (issuer_id, user_id) WHERE ended_at IS NULL;
CREATE INDEX scim_users_by_user ON scim_users (user_id);
CREATE INDEX scim_users_by_external ON scim_users (issuer_id, external_id);
CREATE INDEX scim_users_by_display ON scim_users (issuer_id, display_key);
CREATE INDEX scim_users_live ON scim_users (issuer_id, id) WHERE ended_at IS NULL;
CREATE INDEX scim_users_pending ON scim_users (issuer_id, id) WHERE pending = 1;

CREATE TABLE scim_groups (
  id            TEXT PRIMARY KEY,
  issuer_id     TEXT NOT NULL REFERENCES sso_issuers (id),
  external_id   TEXT,
  display_name  TEXT NOT NULL,
  display_key   TEXT NOT NULL,
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX scim_groups_by_issuer ON scim_groups (issuer_id, id);
CREATE UNIQUE INDEX scim_groups_by_display ON scim_groups (issuer_id, display_key);
CREATE INDEX scim_groups_by_external ON scim_groups (issuer_id, external_id);

CREATE TABLE scim_members (
  group_id   TEXT NOT NULL REFERENCES scim_groups (id),
  member_id  TEXT NOT NULL REFERENCES scim_users (id),
  PRIMARY KEY (group_id, member_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX scim_members_by_member ON scim_members (member_id);

CREATE TABLE former_addresses (
  user_id  TEXT NOT NULL REFERENCES users (id),
  email    TEXT NOT NULL,
  PRIMARY KEY (user_id, email)
) STRICT, WITHOUT ROWID;

-- Pending and answered device authorizations (RFC 8628). How often each is polled is kept in memory.
CREATE TABLE device_authorizations (
  device_code_hash  BLOB PRIMARY KEY,
  user_code         TEXT NOT NULL,
  channel           TEXT CHECK (channel IN ('npm', 'desktop')),
  ip                TEXT NOT NULL,
  user_agent        TEXT,
  status            TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'denied', 'redeemed')),
  user_id           TEXT REFERENCES users (id),
  created_at        INTEGER NOT NULL,
  expires_at        INTEGER NOT NULL,
  decided_at        INTEGER
) STRICT;
CREATE UNIQUE INDEX device_authorizations_pending ON device_authorizations (user_code) WHERE status = 'pending';
CREATE INDEX device_authorizations_by_expiry ON device_authorizations (expires_at);

-- CLI access tokens are signed, not stored; a row is what lets one be listed and revoked. `id` is the token's `jti`.
CREATE TABLE cli_tokens (
  id            TEXT PRIMARY KEY,
  user_id       TEXT NOT NULL REFERENCES users (id),
  channel       TEXT,
  ip            TEXT NOT NULL,
  user_agent    TEXT,
  created_at    INTEGER NOT NULL,
  expires_at    INTEGER NOT NULL,
  last_used_at  INTEGER,
  revoked_at    INTEGER
) STRICT;
CREATE INDEX cli_tokens_by_user ON cli_tokens (user_id, created_at);

-- `scope` is a JSON object with the lists `teams`, `repos`, `paths` and `kinds`; an empty list does not narrow.
CREATE TABLE read_tokens (
  id            TEXT PRIMARY KEY,
  token_hash    BLOB NOT NULL UNIQUE,
  user_id       TEXT NOT NULL REFERENCES users (id),
  name          TEXT NOT NULL,
  scope         TEXT NOT NULL,
  created_at    INTEGER NOT NULL,
  expires_at    INTEGER,
  last_used_at  INTEGER,
  revoked_at    INTEGER
) STRICT;
CREATE INDEX read_tokens_by_user ON read_tokens (user_id, created_at);

-- Every read through a read token, shown to its owner. `question` is stored after redaction.
CREATE TABLE token_reads (
  id        INTEGER PRIMARY KEY,
  token_id  TEXT NOT NULL REFERENCES read_tokens (id),
  user_id   TEXT NOT NULL REFERENCES users (id),
  at        INTEGER NOT NULL,
  question  TEXT NOT NULL,
  total     INTEGER NOT NULL,
  shown     INTEGER NOT NULL,
  ip        TEXT NOT NULL
) STRICT;
CREATE INDEX token_reads_by_user ON token_reads (user_id, id);
CREATE INDEX token_reads_by_token ON token_reads (token_id, id);

-- What a read token has used of its daily cap. `day` counts days since the epoch, UTC.
CREATE TABLE token_read_days (
  token_id  TEXT NOT NULL REFERENCES read_tokens (id),
  day       INTEGER NOT NULL,
  reads     INTEGER NOT NULL,
  PRIMARY KEY (token_id, day)
) STRICT, WITHOUT ROWID;

-- Tokens with which programs read the records of a team, or of all teams where `team_id` is null. `user_id` is the person who answers for a
-- token, which ends with their rights; null for one made on the command line for nobody. `scopes` is a JSON array.
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

-- How often an API token was used for what. `day` counts days since the epoch, UTC.
CREATE TABLE api_token_days (
  token_id   TEXT NOT NULL REFERENCES api_tokens (id),
  day        INTEGER NOT NULL,
  operation  TEXT NOT NULL,
  reads      INTEGER NOT NULL,
  PRIMARY KEY (token_id, day, operation)
) STRICT, WITHOUT ROWID;

-- What a device's agents asked by the Model Context Protocol, the newest questions of each device: the tool, the number of matches and the
-- number shown.
CREATE TABLE device_reads (
  id         INTEGER PRIMARY KEY,
  device_id  TEXT NOT NULL REFERENCES devices (id),
  at         INTEGER NOT NULL,
  tool       TEXT NOT NULL,
  total      INTEGER NOT NULL,
  shown      INTEGER NOT NULL,
  ip         TEXT
) STRICT;
CREATE INDEX device_reads_by_device ON device_reads (device_id, id);

-- The audit: who did what, when, from where. No foreign keys: an event outlives what it is about. `detail` is a JSON object. `leaf` is its
-- number in the log, null for events from before there was one. After names were removed from an event, `item_sha256` is the hash of the
-- item as it was, and `item_key` the key of the item that states what is left.
CREATE TABLE audit_events (
  id            INTEGER PRIMARY KEY,
  at            INTEGER NOT NULL,
  team_id       TEXT,
  actor_kind    TEXT NOT NULL CHECK (actor_kind IN ('user', 'device', 'command', 'system')),
  actor_id      TEXT,
  actor_label   TEXT NOT NULL,
  action        TEXT NOT NULL,
  target_kind   TEXT,
  target_id     TEXT,
  target_label  TEXT,
  ip            TEXT,
  detail        TEXT NOT NULL,
  leaf          INTEGER,
  item_key      BLOB,
  item_sha256   BLOB
) STRICT;
CREATE INDEX audit_events_by_team ON audit_events (team_id, id);
CREATE UNIQUE INDEX audit_events_by_leaf ON audit_events (leaf) WHERE leaf IS NOT NULL;

-- The leaves of events that were erased.
CREATE TABLE erased_events (
  leaf     INTEGER PRIMARY KEY,
  team_id  TEXT,
  at       INTEGER NOT NULL
) STRICT;

-- Deliveries counted by day (UTC, days since the epoch), so that a year of them is read in one look.
CREATE TABLE delivery_days (
  team_id     TEXT NOT NULL REFERENCES teams (id),
  kind        TEXT NOT NULL CHECK (kind IN ('telemetry', 'brain', 'traces')),
  day         INTEGER NOT NULL,
  deliveries  INTEGER NOT NULL,
  items       INTEGER NOT NULL,
  gaps        INTEGER NOT NULL,
  rollbacks   INTEGER NOT NULL,
  PRIMARY KEY (team_id, kind, day)
) STRICT, WITHOUT ROWID;

-- What people and agents ask of the product. `address_hash` is keyed with a secret of the installation, so that it tells
-- nothing but whether two requests came from one address. `context` is the JSON object as sent without the text, redacted.
CREATE TABLE product_requests (
  id            TEXT PRIMARY KEY,
  text          TEXT NOT NULL,
  context       TEXT NOT NULL,
  status        TEXT NOT NULL CHECK (status IN ('received', 'planned', 'in_progress', 'shipped', 'declined')),
  note          TEXT,
  merged_into   TEXT REFERENCES product_requests (id),
  address_hash  BLOB NOT NULL,
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX product_requests_by_status ON product_requests (status, id);
CREATE INDEX product_requests_merged ON product_requests (merged_into) WHERE merged_into IS NOT NULL;

-- Random keys of the installation, by what they are for.
CREATE TABLE installation_keys (
  purpose     TEXT PRIMARY KEY,
  key         BLOB NOT NULL,
  created_at  INTEGER NOT NULL
) STRICT;

-- Brain packs: chosen files of a team's brain, published for everybody. `tags` is a JSON array of strings.
CREATE TABLE packs (
  id              TEXT PRIMARY KEY,
  team_id         TEXT NOT NULL REFERENCES teams (id),
  name            TEXT NOT NULL UNIQUE,
  title           TEXT NOT NULL,
  summary         TEXT NOT NULL,
  license         TEXT NOT NULL,
  tags            TEXT NOT NULL,
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  featured_at     INTEGER,
  removed_at      INTEGER,
  removed_reason  TEXT
) STRICT;
CREATE INDEX packs_by_team ON packs (team_id, created_at);

-- `classes` is a JSON array of the fingerprints, in hexadecimal digits, of the dated entries with a prevention rule in its files.
-- `files` is a JSON array of {path, bytes, sha256}; `archive` the tar.gz as it is downloaded.
CREATE TABLE pack_versions (
  id          INTEGER PRIMARY KEY,
  pack_id     TEXT NOT NULL REFERENCES packs (id),
  version     TEXT NOT NULL,
  readme      TEXT NOT NULL,
  files       TEXT NOT NULL,
  rules       INTEGER NOT NULL,
  classes     TEXT NOT NULL,
  sha256      BLOB NOT NULL,
  created_at  INTEGER NOT NULL,
  -- Last, since columns after a large value are read through it.
  archive     BLOB NOT NULL,
  UNIQUE (pack_id, version)
) STRICT;

-- One row for each device that downloaded a pack with its token.
CREATE TABLE pack_installs (
  pack_id       TEXT NOT NULL REFERENCES packs (id),
  device_id     TEXT NOT NULL REFERENCES devices (id),
  version       TEXT NOT NULL,
  installed_at  INTEGER NOT NULL,
  PRIMARY KEY (pack_id, device_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX pack_installs_recent ON pack_installs (installed_at);

-- Desktop installers. Those that we serve lie as files in the data directory's `releases/`, named by their SHA-512.
CREATE TABLE releases (
  platform    TEXT NOT NULL,
  version     TEXT NOT NULL,
  url         TEXT,
  file_name   TEXT,
  bytes       INTEGER NOT NULL,
  sha512      BLOB NOT NULL,
  created_at  INTEGER NOT NULL,
  PRIMARY KEY (platform, version)
) STRICT, WITHOUT ROWID;

-- One row that the write probe of the health check rewrites.
CREATE TABLE health_probes (
  id         INTEGER PRIMARY KEY CHECK (id = 1),
  probed_at  INTEGER NOT NULL,
  filler     BLOB NOT NULL
) STRICT;

-- How far each projection has read its source, and how many parts of the next step are stored, when that is too much for one transaction. A
-- derived table may be emptied together with its row here: it is then filled again.
CREATE TABLE projections (
  name        TEXT PRIMARY KEY,
  checkpoint  INTEGER NOT NULL,
  part        INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- What a projection failed on and skipped, so that the rest does not wait for ever.
CREATE TABLE projection_failures (
  name        TEXT NOT NULL,
  checkpoint  INTEGER NOT NULL,
  failed_at   INTEGER NOT NULL,
  cause       TEXT NOT NULL,
  PRIMARY KEY (name, checkpoint)
) STRICT, WITHOUT ROWID;

-- Jobs that failed when they ran last: how often in a row, when last, and why.
CREATE TABLE job_failures (
  job        TEXT PRIMARY KEY,
  failures   INTEGER NOT NULL,
  failed_at  INTEGER NOT NULL,
  cause      TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Derived: the dated headings of the errors, security and anti-patterns files in current brains. `ordinal` tells equal headings of one file
-- apart. `commits` and `files` are JSON arrays of what the entry's text names. Numbers are never given twice: addresses of pages and links
-- use them.
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
CREATE INDEX defects_by_date ON defects (team_id, repo_key, date);
CREATE INDEX defects_by_fingerprint ON defects (team_id, fingerprint);
CREATE INDEX defects_by_day ON defects (team_id, date, fingerprint);

-- The numbers of entries that are gone, by a digest that recognises an entry when it comes back: when its branch is checked out again, or
-- with the next brain of a machine that has it.
CREATE TABLE defects_gone (
  team_id   TEXT NOT NULL REFERENCES teams (id),
  repo_key  TEXT NOT NULL,
  digest    BLOB NOT NULL,
  id        INTEGER NOT NULL,
  PRIMARY KEY (team_id, repo_key, digest)
) STRICT, WITHOUT ROWID;

-- Derived: the content that the rows of each file in `defects` were read from. `skipped` counts level-2 headings that are no entry.
CREATE TABLE defect_files (
  team_id   TEXT NOT NULL REFERENCES teams (id),
  repo_key  TEXT NOT NULL,
  path      TEXT NOT NULL,
  kind      TEXT NOT NULL CHECK (kind IN ('error', 'security', 'anti-pattern')),
  blob_id   INTEGER NOT NULL REFERENCES brain_blobs (id),
  entries   INTEGER NOT NULL,
  skipped   INTEGER NOT NULL,
  PRIMARY KEY (team_id, repo_key, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX defect_files_by_blob ON defect_files (blob_id);

-- Derived: the classes of entries in `defects`, by the first 8 hexadecimal digits of their fingerprints, so that no page has to count
-- entries. `open` counts those that their file says are open. `first_repo` is where the first entry stands; `repo_key`, `kind`, `title`,
-- `rule` and `newest_id` are those of the newest. `repos` is a JSON array of keys. `recent` is a JSON array of digests of the newest
-- entries, also of those that went lately: one that comes back is not a new one. A class without entries stays while it has triage.
CREATE TABLE triage_classes (
  team_id      TEXT NOT NULL REFERENCES teams (id),
  class        TEXT NOT NULL,
  occurrences  INTEGER NOT NULL,
  open         INTEGER NOT NULL,
  first_seen   TEXT NOT NULL,
  last_seen    TEXT NOT NULL,
  first_repo   TEXT NOT NULL,
  repos        TEXT NOT NULL,
  repo_key     TEXT NOT NULL,
  kind         TEXT NOT NULL CHECK (kind IN ('error', 'security', 'anti-pattern')),
  title        TEXT NOT NULL,
  rule         TEXT,
  newest_id    INTEGER NOT NULL,
  recent       TEXT NOT NULL,
  PRIMARY KEY (team_id, class)
) STRICT, WITHOUT ROWID;

-- What people decided about a class (`entry_id` 0) or one of its entries. Without a `state` the errors file's word counts. `snoozed` is
-- 'again' until it comes again, 'until' up to `snoozed_until`. `revision` grows with every change, so that two people at once do not
-- overwrite each other's decision unseen.
CREATE TABLE triage_words (
  team_id        TEXT NOT NULL REFERENCES teams (id),
  class          TEXT NOT NULL,
  entry_id       INTEGER NOT NULL,
  owner_id       TEXT REFERENCES users (id),
  state          TEXT CHECK (state IN ('open', 'resolved', 'again')),
  state_at       INTEGER,
  snoozed        TEXT CHECK (snoozed IN ('until', 'again')),
  snoozed_until  INTEGER,
  tracker        TEXT,
  revision       INTEGER NOT NULL,
  PRIMARY KEY (team_id, class, entry_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX triage_words_by_entry ON triage_words (entry_id) WHERE entry_id > 0;
CREATE INDEX triage_words_by_owner ON triage_words (owner_id) WHERE owner_id IS NOT NULL;

-- The history of a class or an entry: what people said and did, and when it came again. `body` is a comment, a tracker's address or a day,
-- null when it was erased; `other_id` is the person to whom it was given, or the entry that came.
CREATE TABLE triage_events (
  id           INTEGER PRIMARY KEY,
  team_id      TEXT NOT NULL REFERENCES teams (id),
  class        TEXT NOT NULL,
  entry_id     INTEGER NOT NULL,
  at           INTEGER NOT NULL,
  kind         TEXT NOT NULL CHECK (kind IN
    ('assigned', 'unassigned', 'resolved', 'reopened', 'snoozed', 'commented', 'linked', 'unlinked', 'came-again')),
  actor_kind   TEXT NOT NULL,
  actor_id     TEXT,
  actor_label  TEXT NOT NULL,
  other_id     TEXT,
  body         TEXT
) STRICT;
CREATE INDEX triage_events_by_class ON triage_events (team_id, class, id);
CREATE INDEX triage_events_by_actor ON triage_events (actor_id) WHERE actor_id IS NOT NULL;

-- Derived: facts of sessions by which their part in a defect is judged. `started_at` and `ended_at` are the session's window, taken from
-- its spans, prompts and commits where the session names none.
CREATE TABLE trace_session_windows (
  session_id   INTEGER PRIMARY KEY REFERENCES trace_sessions (id),
  team_id      TEXT NOT NULL,
  repo_key     TEXT NOT NULL,
  external_id  TEXT NOT NULL,
  agent        TEXT,
  model        TEXT,
  started_at   INTEGER,
  ended_at     INTEGER
) STRICT;
CREATE INDEX trace_session_windows_by_repo ON trace_session_windows (team_id, repo_key, started_at);
CREATE INDEX trace_session_windows_by_external_id ON trace_session_windows (team_id, external_id);
CREATE INDEX trace_session_windows_by_maker ON trace_session_windows (team_id, model, agent, repo_key);

CREATE TABLE trace_session_commits (
  team_id     TEXT NOT NULL,
  sha         TEXT NOT NULL,
  session_id  INTEGER NOT NULL REFERENCES trace_sessions (id),
  at          INTEGER,
  PRIMARY KEY (team_id, sha, session_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX trace_session_commits_by_session ON trace_session_commits (session_id);

-- `name` is the last part of the path, by which a path is looked up that one side knows only in part.
CREATE TABLE trace_session_files (
  session_id  INTEGER NOT NULL REFERENCES trace_sessions (id),
  path        TEXT NOT NULL,
  team_id     TEXT NOT NULL,
  repo_key    TEXT NOT NULL,
  name        TEXT NOT NULL,
  PRIMARY KEY (session_id, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX trace_session_files_by_name ON trace_session_files (team_id, repo_key, name);

-- Lines are 1-based and inclusive, as numbered after the edit; null when the span has none. `shift` is by how many lines the file grew
-- there; null when the span does not say.
CREATE TABLE trace_session_edits (
  id          INTEGER PRIMARY KEY,
  team_id     TEXT NOT NULL,
  repo_key    TEXT NOT NULL,
  path        TEXT NOT NULL,
  name        TEXT NOT NULL,
  at          INTEGER,
  session_id  INTEGER NOT NULL REFERENCES trace_sessions (id),
  span_id     TEXT NOT NULL,
  start_line  INTEGER,
  end_line    INTEGER,
  shift       INTEGER,
  commit_sha  TEXT
) STRICT;
CREATE INDEX trace_session_edits_by_name ON trace_session_edits (team_id, name, at);
CREATE INDEX trace_session_edits_by_session ON trace_session_edits (session_id);

-- Derived: the words by which a session is found. `words` is in lower case and holds its title, its agent's id, its branch and the
-- beginnings of its commits.
CREATE TABLE session_finds (
  team_id     TEXT NOT NULL,
  session_id  INTEGER NOT NULL REFERENCES trace_sessions (id),
  title       TEXT NOT NULL,
  repo_key    TEXT NOT NULL,
  branch      TEXT NOT NULL,
  words       TEXT NOT NULL,
  PRIMARY KEY (team_id, session_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_finds_by_session ON session_finds (session_id);

-- The session, and with it the prompt, that a defect is put down to. `evidence` is a JSON array. A person's decision (`origin` person, or a
-- `verdict`) survives every new correlation. `entry_id` is the defect's entry; the columns from `repo_key` to `fingerprint` are copied from
-- it, as it last stood. `gone_after` is the highest number of an entry at the time when this one was found to be gone.
CREATE TABLE causal_links (
  id              TEXT PRIMARY KEY,
  team_id         TEXT NOT NULL REFERENCES teams (id),
  repo_key        TEXT NOT NULL,
  path            TEXT NOT NULL,
  heading         TEXT NOT NULL,
  ordinal         INTEGER NOT NULL,
  date            TEXT NOT NULL,
  fingerprint     BLOB NOT NULL,
  band            TEXT NOT NULL CHECK (band IN ('strong', 'probable', 'weak')),
  origin          TEXT NOT NULL CHECK (origin IN ('computed', 'person')),
  session_id      INTEGER REFERENCES trace_sessions (id),
  commit_sha      TEXT,
  prompt_excerpt  TEXT,
  evidence        TEXT NOT NULL,
  verdict         TEXT CHECK (verdict IN ('confirmed', 'rejected')),
  decided_by      TEXT,
  decided_at      INTEGER,
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  entry_id        INTEGER NOT NULL,
  gone_after      INTEGER,
  said_by         TEXT
) STRICT;
CREATE UNIQUE INDEX causal_links_computed ON causal_links (entry_id, session_id) WHERE origin = 'computed';
CREATE INDEX causal_links_by_entry ON causal_links (entry_id);
CREATE INDEX causal_links_by_repo ON causal_links (team_id, repo_key);
CREATE INDEX causal_links_by_session ON causal_links (session_id);
CREATE INDEX causal_links_by_date ON causal_links (team_id, date);
CREATE INDEX causal_links_certain ON causal_links (team_id) WHERE band <> 'weak' OR origin = 'person' OR verdict IS 'confirmed';

-- The newest hourly figures of each device and repository. `counts` is a JSON object of whole numbers, `fingerprints` a JSON
-- array of their first eight hexadecimal digits.
CREATE TABLE brain_pulses (
  device_id     TEXT NOT NULL REFERENCES devices (id),
  repo_key      TEXT NOT NULL,
  team_id       TEXT NOT NULL REFERENCES teams (id),
  at            INTEGER NOT NULL,
  counts        TEXT NOT NULL,
  fingerprints  TEXT NOT NULL,
  received_at   INTEGER NOT NULL,
  PRIMARY KEY (device_id, repo_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX brain_pulses_by_team ON brain_pulses (team_id, at);

-- Derived: tokens by day (UTC, days since the epoch) and everything by which they are filtered. Prices are not stored: they are looked up
-- when read. `context` is the size class of the requests, for prices that depend on it: the lower bound in tokens. `session` is the
-- session's id as its agent named it, '' when unknown; `branch` and `model` are '' where the record has none, and then the session's count;
-- `session_agent` is its agent, `session_user` the person whom it names as signed in. `reported_nano` is the cost that agents reported, in
-- billionths of a dollar, and `reported` the number of usages that it sums up. `otlp` is 1 for what was exported over OTLP without the
-- request's id: it `counts` only while nothing else reports calls of that session; 2 for what was exported with it. A cell may be empty
-- again.
CREATE TABLE spend_cells (
  id              INTEGER PRIMARY KEY,
  team_id         TEXT NOT NULL REFERENCES teams (id),
  day             INTEGER NOT NULL,
  repo_key        TEXT NOT NULL,
  branch          TEXT NOT NULL,
  model           TEXT NOT NULL,
  device_id       TEXT NOT NULL,
  session         TEXT NOT NULL,
  context         INTEGER NOT NULL,
  session_branch  TEXT NOT NULL,
  session_model   TEXT NOT NULL,
  usages          INTEGER NOT NULL,
  input           INTEGER NOT NULL,
  output          INTEGER NOT NULL,
  cache_write     INTEGER NOT NULL,
  cache_write_1h  INTEGER NOT NULL,
  cache_read      INTEGER NOT NULL,
  reported_nano   INTEGER NOT NULL,
  reported        INTEGER NOT NULL,
  session_agent   TEXT NOT NULL DEFAULT '',
  otlp            INTEGER NOT NULL DEFAULT 0,
  counts          INTEGER NOT NULL DEFAULT 1,
  session_user    TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE UNIQUE INDEX spend_cells_by_day
  ON spend_cells (team_id, day, repo_key, branch, model, device_id, session, context, otlp);
CREATE INDEX spend_cells_by_session ON spend_cells (device_id, session);
CREATE INDEX spend_cells_of_team ON spend_cells (team_id, session, otlp, counts);
-- Most questions are for models and days: their cells lie in order.
CREATE INDEX spend_cells_by_model ON spend_cells (team_id, day, iif(model = '', session_model, model), context);

-- Derived: the cells' sums by day, model (the session's where the record has none) and size class, for questions about the whole team. The
-- transaction that changes cells changes these, too.
CREATE TABLE spend_days (
  team_id         TEXT NOT NULL,
  day             INTEGER NOT NULL,
  model           TEXT NOT NULL,
  context         INTEGER NOT NULL,
  usages          INTEGER NOT NULL,
  input           INTEGER NOT NULL,
  output          INTEGER NOT NULL,
  cache_write     INTEGER NOT NULL,
  cache_write_1h  INTEGER NOT NULL,
  cache_read      INTEGER NOT NULL,
  reported_nano   INTEGER NOT NULL,
  reported        INTEGER NOT NULL,
  PRIMARY KEY (team_id, day, model, context)
) STRICT, WITHOUT ROWID;

-- Derived: every reported usage, so that it counts once however often and wherever it is reported. `usage_key` is the dedupe key: a digest
-- of the provider's message id, followed by that of its request when both were reported; of the request's id when it was reported alone,
-- followed by the message when that is known; or of the session and the token counts when there is neither. Usages with equal counts in one
-- session lie together, telemetry's before the spans', and beside them the number of messages that only one side reported there. `source`
-- is the trace session that reported it, 0 for telemetry, below 0 for such messages. `times` is how often it was reported; the figures are
-- those of one time. A `cell_id` of 0: nothing to count here, but the row keeps another usage from counting, or says that two ids are one
-- message's.
CREATE TABLE spend_usages (
  team_id         TEXT NOT NULL,
  usage_key       BLOB NOT NULL,
  source          INTEGER NOT NULL,
  cell_id         INTEGER NOT NULL,
  times           INTEGER NOT NULL,
  usages          INTEGER NOT NULL,
  input           INTEGER NOT NULL,
  output          INTEGER NOT NULL,
  cache_write     INTEGER NOT NULL,
  cache_write_1h  INTEGER NOT NULL,
  cache_read      INTEGER NOT NULL,
  reported_nano   INTEGER NOT NULL,
  reported        INTEGER NOT NULL,
  PRIMARY KEY (team_id, usage_key, source, cell_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX spend_usages_by_source ON spend_usages (source) WHERE source > 0;

-- Derived: a row for each session, by which lists find, order and sum. `session_id` is null while only its spend is known. `result` is the
-- kind of its outcome; `started_at` is the lowest integer and `duration` -1 when unknown; `cost_nano` (billionths of a dollar, at list
-- prices) is -1 when nothing of it has a price, `cost_rest` the trillionths beyond it; `caused` is the number of entries of errors files
-- that are put down to it.
CREATE TABLE session_figures (
  id            INTEGER PRIMARY KEY,
  team_id       TEXT NOT NULL,
  device_id     TEXT NOT NULL,
  external_id   TEXT NOT NULL,
  session_id    INTEGER,
  repo_key      TEXT NOT NULL,
  branch        TEXT NOT NULL,
  agent         TEXT NOT NULL,
  model         TEXT NOT NULL,
  outcome       TEXT NOT NULL,
  result        TEXT NOT NULL,
  title         TEXT,
  started_at    INTEGER NOT NULL,
  duration      INTEGER NOT NULL,
  commits       INTEGER NOT NULL,
  failed_steps  INTEGER NOT NULL,
  caused        INTEGER NOT NULL,
  tokens        INTEGER NOT NULL,
  unpriced      INTEGER NOT NULL,
  cost_nano     INTEGER NOT NULL,
  cost_rest     INTEGER NOT NULL,
  user_email    TEXT NOT NULL DEFAULT '',
  UNIQUE (device_id, external_id)
) STRICT;
CREATE UNIQUE INDEX session_figures_by_session ON session_figures (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX session_figures_by_start ON session_figures (team_id, started_at, session_id) WHERE session_id IS NOT NULL;
CREATE INDEX session_figures_by_repo ON session_figures (team_id, repo_key, started_at, session_id) WHERE session_id IS NOT NULL;
CREATE INDEX session_figures_by_cause ON session_figures (team_id, repo_key) WHERE caused > 0;
CREATE INDEX session_figures_by_duration ON session_figures (team_id, duration, session_id) WHERE session_id IS NOT NULL;
CREATE INDEX session_figures_by_cost ON session_figures (team_id, cost_nano, session_id) WHERE session_id IS NOT NULL;
CREATE INDEX session_figures_by_tokens ON session_figures (team_id, tokens, session_id) WHERE session_id IS NOT NULL;
CREATE INDEX session_figures_by_errors ON session_figures (team_id, failed_steps + caused, session_id) WHERE session_id IS NOT NULL;


-- The prices at which the costs of sessions are kept; no row before they are computed for the first time.
CREATE TABLE spend_pricing (
  id       INTEGER PRIMARY KEY CHECK (id = 1),
  version  TEXT NOT NULL
) STRICT;

-- Budgets. `subject` is a repository's key, a person's id or a model's name, '' for the team; `thresholds` a JSON array of percentages. The
-- other table has those that were reached: `day` is the first of the period, since the epoch, `used_nano` billionths of a dollar.
CREATE TABLE budgets (
  id            TEXT PRIMARY KEY,
  team_id       TEXT NOT NULL REFERENCES teams (id),
  scope         TEXT NOT NULL CHECK (scope IN ('team', 'repo', 'person', 'model')),
  subject       TEXT NOT NULL,
  period        TEXT NOT NULL CHECK (period IN ('week', 'month')),
  amount_cents  INTEGER NOT NULL CHECK (amount_cents > 0),
  thresholds    TEXT NOT NULL,
  created_at    INTEGER NOT NULL,
  created_by    TEXT NOT NULL,
  UNIQUE (team_id, scope, subject, period)
) STRICT;

CREATE TABLE budget_crossings (
  budget_id  TEXT NOT NULL REFERENCES budgets (id),
  day        INTEGER NOT NULL,
  threshold  INTEGER NOT NULL,
  at         INTEGER NOT NULL,
  used_nano  INTEGER NOT NULL,
  PRIMARY KEY (budget_id, day, threshold)
) STRICT, WITHOUT ROWID;

-- Saved views of lists: the page's path, and the query of its address, under a name.
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

-- Who opened whose session: one row for a person, a session and a day (UTC, since the epoch).
CREATE TABLE session_views (
  session_id  INTEGER NOT NULL,
  user_id     TEXT NOT NULL REFERENCES users (id),
  day         INTEGER NOT NULL,
  team_id     TEXT NOT NULL REFERENCES teams (id),
  device_id   TEXT NOT NULL REFERENCES devices (id),
  at          INTEGER NOT NULL,
  PRIMARY KEY (session_id, user_id, day)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_views_by_device ON session_views (device_id, at);
CREATE INDEX session_views_by_user ON session_views (user_id);

-- Entries that came by OTLP, so that a request sent again is not stored twice: digests of ids, times and counts. Rows go after a week.
CREATE TABLE otlp_seen (
  entry_key    BLOB PRIMARY KEY,
  received_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX otlp_seen_by_time ON otlp_seen (received_at);

-- Notices: what happened that somebody outside may want to hear of.
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

-- Channels that notices go to: a webhook, a chat, mail. Of a team, or of the installation where there is none. Deliveries are signed with a
-- secret; with two while it is being replaced.
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

-- Notices to be sent to a channel, and what became of them: `due_at` is null once that is decided.
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
CREATE INDEX notification_messages_due ON notification_messages (channel_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX notification_messages_by_channel ON notification_messages (channel_id, id);

-- Conditions that were reported when they began, until they are over; the last week whose digest each team was sent; and since when the
-- server listens.
CREATE TABLE alarms (
  key       TEXT PRIMARY KEY,
  began_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What lies in the lake, see docs/lake.md. `place` is where the lake is, `shard` the part of the objects' names that is this
-- installation's, `last_block` the block up to which all are there, `prices` the prices of its spend. At `current_at` the lake was
-- complete.
CREATE TABLE lake_places (
  id          INTEGER PRIMARY KEY CHECK (id = 1),
  place       TEXT NOT NULL,
  shard       TEXT NOT NULL,
  last_block  INTEGER NOT NULL,
  prices      TEXT NOT NULL,
  current_at  INTEGER
) STRICT;

-- Objects of the lake, noted before they are written, so that half-written ones of a killed process are known. `written_at` is null until
-- then. `source_sha256` is the digest of what an object was made of, where that is compared.
CREATE TABLE lake_objects (
  path           TEXT PRIMARY KEY,
  block_id       INTEGER,
  rows           INTEGER NOT NULL,
  bytes          INTEGER NOT NULL,
  source_sha256  BLOB,
  written_at     INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX lake_objects_by_block ON lake_objects (block_id) WHERE block_id IS NOT NULL;

-- Days of a team on which something changed since they were written to the lake, and blocks that are gone; triggers note both while there
-- is a lake. Days before 1970, and entries without a day, are 1969-12-31, those from 2100 on 2100-01-01. `version` grows with each change.
CREATE TABLE lake_marks (
  kind     TEXT NOT NULL CHECK (kind IN ('spend', 'sessions', 'errors')),
  team_id  TEXT NOT NULL,
  day      TEXT NOT NULL,
  version  INTEGER NOT NULL,
  PRIMARY KEY (kind, team_id, day)
) STRICT, WITHOUT ROWID;
CREATE TABLE lake_gone (
  block_id  INTEGER PRIMARY KEY
) STRICT;
-- Triggers write to this view while there is a lake; it holds nothing.
CREATE VIEW lake_changes (kind, team_id, day) AS SELECT '', '', 0 WHERE false;
CREATE TRIGGER lake_changes_in INSTEAD OF INSERT ON lake_changes WHEN EXISTS (SELECT 1 FROM lake_places) BEGIN
  INSERT INTO lake_marks (kind, team_id, day, version)
  VALUES (NEW.kind, NEW.team_id, date(max(-1, min(NEW.day, 47482)) * 86400, 'unixepoch'), 1)
  ON CONFLICT (kind, team_id, day) DO UPDATE SET version = version + 1;
END;
CREATE TRIGGER spend_cells_lake_in AFTER INSERT ON spend_cells BEGIN
  INSERT INTO lake_changes VALUES ('spend', NEW.team_id, NEW.day);
END;
CREATE TRIGGER spend_cells_lake_out AFTER DELETE ON spend_cells BEGIN
  INSERT INTO lake_changes VALUES ('spend', OLD.team_id, OLD.day);
END;
CREATE TRIGGER spend_cells_lake_over AFTER UPDATE ON spend_cells BEGIN
  INSERT INTO lake_changes VALUES ('spend', NEW.team_id, NEW.day);
END;
CREATE TRIGGER session_figures_lake_in AFTER INSERT ON session_figures WHEN NEW.session_id IS NOT NULL BEGIN
  INSERT INTO lake_changes VALUES ('sessions', NEW.team_id, iif(NEW.started_at < 0, -1, NEW.started_at / 86400000));
END;
CREATE TRIGGER session_figures_lake_out AFTER DELETE ON session_figures WHEN OLD.session_id IS NOT NULL BEGIN
  INSERT INTO lake_changes VALUES ('sessions', OLD.team_id, iif(OLD.started_at < 0, -1, OLD.started_at / 86400000));
END;
CREATE TRIGGER session_figures_lake_over AFTER UPDATE ON session_figures BEGIN
  INSERT INTO lake_changes SELECT 'sessions', OLD.team_id, iif(OLD.started_at < 0, -1, OLD.started_at / 86400000)
  WHERE OLD.session_id IS NOT NULL;
  INSERT INTO lake_changes SELECT 'sessions', NEW.team_id, iif(NEW.started_at < 0, -1, NEW.started_at / 86400000)
  WHERE NEW.session_id IS NOT NULL;
END;
CREATE TRIGGER defects_lake_in AFTER INSERT ON defects BEGIN
  INSERT INTO lake_changes VALUES ('errors', NEW.team_id, unixepoch(NEW.date) / 86400);
END;
CREATE TRIGGER defects_lake_out AFTER DELETE ON defects BEGIN
  INSERT INTO lake_changes VALUES ('errors', OLD.team_id, unixepoch(OLD.date) / 86400);
END;
CREATE TRIGGER defects_lake_over AFTER UPDATE ON defects BEGIN
  INSERT INTO lake_changes VALUES ('errors', OLD.team_id, unixepoch(OLD.date) / 86400);
  INSERT INTO lake_changes VALUES ('errors', NEW.team_id, unixepoch(NEW.date) / 86400);
END;
CREATE TRIGGER telemetry_blocks_lake_out AFTER DELETE ON telemetry_blocks WHEN EXISTS (SELECT 1 FROM lake_places) BEGIN
  INSERT INTO lake_gone (block_id) VALUES (OLD.id) ON CONFLICT DO NOTHING;
END;
