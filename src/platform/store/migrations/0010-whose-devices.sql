-- The person that a machine belongs to. The maker of a bound machine's code need not be the person who works on it, so it belongs to nobody
-- until it is assigned.
ALTER TABLE devices ADD COLUMN person_id TEXT REFERENCES users (id);
CREATE INDEX devices_by_person ON devices (person_id) WHERE person_id IS NOT NULL;
ALTER TABLE connect_codes ADD COLUMN person_id TEXT;
-- Members connect machines of their own unless their team says otherwise.
ALTER TABLE teams ADD COLUMN binding_closed_at INTEGER;
-- A code may connect several machines.
ALTER TABLE connect_codes ADD COLUMN uses INTEGER NOT NULL DEFAULT 1 CHECK (uses > 0);
ALTER TABLE connect_codes ADD COLUMN used INTEGER NOT NULL DEFAULT 0 CHECK (used <= uses);
UPDATE connect_codes SET used = 1 WHERE consumed_at IS NOT NULL;
