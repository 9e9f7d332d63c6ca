-- Retention adds an erasure every night. Looking for another kind must not walk through them.
CREATE INDEX IF NOT EXISTS erasures_nightly ON erasures (team_id, requested_at) WHERE kind = 'retention';
CREATE INDEX IF NOT EXISTS erasures_requested ON erasures (requested_at, id) WHERE kind <> 'retention';
