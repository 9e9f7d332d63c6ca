-- Changes that are too many for one transaction are counted as parts, beside the checkpoint. The projection of defects had both in one
-- number: the snapshot's times 4,096, plus the number of stored parts of the next one.
ALTER TABLE projections ADD COLUMN part INTEGER NOT NULL DEFAULT 0;
UPDATE projections SET checkpoint = max(0, (checkpoint + 1) / 4096 - 1) WHERE name = 'defects';
UPDATE OR REPLACE projection_failures SET checkpoint = checkpoint / 4096 WHERE name = 'defects';

-- Links refer to entries by number alone. A link that two processes computed is kept once. Links whose entry is gone had a negative
-- ordinal, to make way for others.
DROP INDEX causal_links_computed;
DROP INDEX causal_links_by_entry;
CREATE INDEX causal_links_by_entry ON causal_links (entry_id);
CREATE INDEX causal_links_by_repo ON causal_links (team_id, repo_key);
DELETE FROM causal_links WHERE origin = 'computed' AND verdict IS NULL AND EXISTS (
  SELECT 1 FROM causal_links o WHERE o.entry_id = causal_links.entry_id AND o.session_id = causal_links.session_id
    AND o.origin = 'computed' AND (o.verdict IS NOT NULL OR o.id < causal_links.id));
UPDATE causal_links SET ordinal = 0 WHERE ordinal < 0;
CREATE UNIQUE INDEX causal_links_computed ON causal_links (entry_id, session_id) WHERE origin = 'computed';
