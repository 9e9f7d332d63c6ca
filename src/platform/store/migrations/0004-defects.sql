-- Defects and what made them, pulses, spend; and the derivations that follow deliveries.
-- How far each derived table has read its source. A derived table may be emptied with its row here: it is then filled again.
CREATE TABLE derivations (
  name      TEXT PRIMARY KEY,
  position  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What a derivation failed on and skipped, so that the rest does not wait for ever.
CREATE TABLE derivation_failures (
  name       TEXT NOT NULL,
  position   INTEGER NOT NULL,
  failed_at  INTEGER NOT NULL,
  cause      TEXT NOT NULL,
  PRIMARY KEY (name, position)
) STRICT, WITHOUT ROWID;

-- Derivations follow sessions by the delivery that last changed them or their spans.
CREATE INDEX trace_sessions_by_delivery ON trace_sessions (delivery_id);
CREATE INDEX brain_currents_by_snapshot ON brain_currents (snapshot_id);

-- Derived: the dated headings of the errors, security and anti-patterns files in current brains. `ordinal` tells equal
-- headings of one file apart. `commits` and `files` are JSON arrays: what the entry's text names. Numbers are never given twice:
-- they are addresses of pages, and links go by them.
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

-- Derived: which content the rows of each file in `defects` were read from. `skipped` counts level-2 headings that are no entry.
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

-- Derived: what sessions tell of their part in a defect. `started_at` and `ended_at` are the session's window, taken from
-- its spans, prompts and commits where the session names none.
CREATE TABLE session_windows (
  session_id   INTEGER PRIMARY KEY REFERENCES trace_sessions (id),
  team_id      TEXT NOT NULL,
  repo_key     TEXT NOT NULL,
  external_id  TEXT NOT NULL,
  agent        TEXT,
  model        TEXT,
  started_at   INTEGER,
  ended_at     INTEGER
) STRICT;
CREATE INDEX session_windows_by_repo ON session_windows (team_id, repo_key, started_at);
CREATE INDEX session_windows_by_external_id ON session_windows (team_id, external_id);

CREATE TABLE session_commits (
  team_id     TEXT NOT NULL,
  sha         TEXT NOT NULL,
  session_id  INTEGER NOT NULL REFERENCES trace_sessions (id),
  at          INTEGER,
  PRIMARY KEY (team_id, sha, session_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_commits_by_session ON session_commits (session_id);

-- `name` is the last part of the path: paths that one side knows only in part are looked up by it.
CREATE TABLE session_files (
  session_id  INTEGER NOT NULL REFERENCES trace_sessions (id),
  path        TEXT NOT NULL,
  team_id     TEXT NOT NULL,
  repo_key    TEXT NOT NULL,
  name        TEXT NOT NULL,
  PRIMARY KEY (session_id, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_files_by_name ON session_files (team_id, repo_key, name);

-- Lines are 1-based and inclusive, as they were numbered once the edit was made; null where the span told none. `shift` is by
-- how many lines the file grew there; null where the span did not tell.
CREATE TABLE session_edits (
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
CREATE INDEX session_edits_by_name ON session_edits (team_id, name, at);
CREATE INDEX session_edits_by_session ON session_edits (session_id);

-- Which session, and with it which prompt, a defect is put down to. `evidence` is a JSON array. A person's word (`origin`
-- person, or a `verdict`) survives every new correlation. `entry_id` is the entry that it is of; `gone_after` is the highest
-- number of an entry when that one was found to be gone, and then `ordinal` is negative.
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
  gone_after      INTEGER
) STRICT;
CREATE UNIQUE INDEX causal_links_computed ON causal_links (team_id, repo_key, path, heading, ordinal, session_id)
  WHERE origin = 'computed';
CREATE INDEX causal_links_by_entry ON causal_links (team_id, repo_key, path, heading);
CREATE INDEX causal_links_by_session ON causal_links (session_id);
CREATE INDEX causal_links_by_date ON causal_links (team_id, date);

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

-- Derived: tokens by day (UTC, days since the epoch) and everything that they are asked for by. Prices are not stored: they
-- are looked up when read. `context` is the size class of the requests, for prices that depend on it: the lower bound in
-- tokens. `session` is the session's id as its agent named it, '' when unknown; `branch` and `model` are '' where the record
-- told none, and then those of the session hold. `reported_nano` is what agents said of the cost, in billionths of a dollar,
-- and `reported` how many of the usages it is the sum of. A cell may hold nothing any more.
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
  reported        INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX spend_cells_by_day
  ON spend_cells (team_id, day, repo_key, branch, model, device_id, session, context);
CREATE INDEX spend_cells_by_session ON spend_cells (device_id, session);
-- Models and days are what is asked for most: their cells lie in order.
CREATE INDEX spend_cells_by_model ON spend_cells (team_id, day, iif(model = '', session_model, model), context);

-- Derived: every usage that was told of, so that it counts once however often and wherever. `usage_key` is a digest of the
-- provider's message id, or of the session and the figures where there is none: those of equal figures in one session lie
-- together, and beside them the messages told there on one side only. `source` is the trace session that told it, 0 for
-- telemetry, below 0 for such a message. `times` is how often it told so; the figures are those of one time. A `cell_id` of 0:
-- nothing to count here, but it keeps something else from counting.
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
