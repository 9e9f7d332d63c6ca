-- Whose a machine is. Who made the code of a machine that is bound already need not be who works on it: it stays nobody's until
-- it is assigned.
ALTER TABLE devices ADD COLUMN person_id TEXT REFERENCES users (id);
CREATE INDEX devices_by_person ON devices (person_id) WHERE person_id IS NOT NULL;
ALTER TABLE connect_codes ADD COLUMN person_id TEXT;
-- Members connect machines of their own unless their team says otherwise.
ALTER TABLE teams ADD COLUMN binding_closed_at INTEGER;
