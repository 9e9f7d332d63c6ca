-- Background work that outlives a process, and what goes wrong in the background, where the doctor sees it.
CREATE TABLE outbox (
  id        INTEGER PRIMARY KEY,
  job       TEXT NOT NULL,
  payload   TEXT NOT NULL,
  attempts  INTEGER NOT NULL DEFAULT 0,
  due_at    INTEGER NOT NULL,
  cause     TEXT
) STRICT;
CREATE INDEX outbox_by_due ON outbox (job, due_at);

CREATE TABLE job_failures (
  job        TEXT PRIMARY KEY,
  failures   INTEGER NOT NULL,
  failed_at  INTEGER NOT NULL,
  cause      TEXT NOT NULL
) STRICT, WITHOUT ROWID;
