-- Machines that live for one job: a code says for how long it binds each, and a binding when it ends; null: until somebody ends it.
ALTER TABLE connect_codes ADD COLUMN binds_for_ms INTEGER CHECK (binds_for_ms BETWEEN 60000 AND 604800000);
ALTER TABLE devices ADD COLUMN ends_at INTEGER;
