-- When the last remains of erased rows were gone from the files. Only the newest erasure may still have left something.
ALTER TABLE erasures ADD COLUMN reclaimed_at INTEGER;
UPDATE erasures SET reclaimed_at = completed_at
WHERE completed_at IS NOT NULL AND rowid IS NOT (SELECT max(rowid) FROM erasures WHERE completed_at IS NOT NULL AND counts <> '{}');
CREATE INDEX erasures_unreclaimed ON erasures (completed_at) WHERE reclaimed_at IS NULL AND completed_at IS NOT NULL;
