-- Derived: the classes of entries in `defects`, by the first 8 hexadecimal digits of their fingerprints, so that no page counts
-- entries. `open` are those whose file says so. `first_repo` is where the first entry stands; `repo_key`, `kind`, `title`, `rule` and
-- `newest_id` are of the newest. `repos` is a JSON array of keys.
-- `recent` is a JSON array of digests of the newest entries, those that went lately too: one that is there again is not a new one.
-- A class without entries stays while something was said of it.
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

-- What people said of a class (`entry_id` 0) or of one of its entries, as it stands. Without a `state` the errors file's word
-- counts. `snoozed` is 'again' until it comes again, 'until' up to `snoozed_until`. `revision` grows with every change, so that two
-- people at once do not undo each other's word unseen.
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

-- What was said and done of a class or an entry, and when it came again. `body` is a comment, a tracker's address or a day, null
-- where it was erased; `other_id` who it was given to, or which entry came.
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

CREATE INDEX causal_links_certain ON causal_links (team_id) WHERE band <> 'weak' OR origin = 'person' OR verdict IS 'confirmed';
CREATE INDEX trace_session_windows_by_maker ON trace_session_windows (team_id, model, agent, repo_key);

INSERT INTO triage_classes (team_id, class, occurrences, open, first_seen, last_seen, first_repo, repos, repo_key, kind, title, rule,
  newest_id, recent)
WITH placed AS (
  SELECT *, lower(hex(substr(fingerprint, 1, 4))) AS class,
    row_number() OVER (PARTITION BY team_id, substr(fingerprint, 1, 4) ORDER BY date DESC, repo_key, path, line) AS from_end,
    row_number() OVER (PARTITION BY team_id, substr(fingerprint, 1, 4) ORDER BY date, repo_key, path, line) AS from_begin
  FROM defects)
SELECT team_id, class, count(*), sum(open), min(date), max(date), max(CASE from_begin WHEN 1 THEN repo_key END),
  json_group_array(DISTINCT repo_key), max(CASE from_end WHEN 1 THEN repo_key END), max(CASE from_end WHEN 1 THEN kind END),
  max(CASE from_end WHEN 1 THEN title END), max(CASE from_end WHEN 1 THEN rule END), max(CASE from_end WHEN 1 THEN id END), '[]'
FROM placed GROUP BY team_id, class;
