-- Of teams with retention there is a run a night, which nobody is to walk through for another.
CREATE INDEX IF NOT EXISTS erasures_nightly ON erasures (team_id, requested_at) WHERE kind = 'retention';
CREATE INDEX IF NOT EXISTS erasures_requested ON erasures (requested_at, id) WHERE kind <> 'retention';
