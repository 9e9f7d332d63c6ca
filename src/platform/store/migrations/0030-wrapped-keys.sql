-- Keys under a passphrase, so that a replica of the database has them.

CREATE TABLE wrapped_keys (
  id         INTEGER PRIMARY KEY CHECK (id = 1),
  kid        TEXT NOT NULL,
  salt       BLOB NOT NULL,
  sealed     TEXT NOT NULL,
  wrapped_at INTEGER NOT NULL
) STRICT;
