-- What a device's agents asked. What they asked before stays in the audit, whose events are leaves of the log.
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

-- Classes of errors are listed day by day.
CREATE INDEX defects_by_day ON defects (team_id, date, fingerprint);
