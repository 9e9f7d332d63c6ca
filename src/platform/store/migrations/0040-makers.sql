-- Makers are stored by id: an address may be somebody else's by now, and must go when its person is erased. The ids come from the audit.
-- Where its events have expired, an address is enough that only one person ever had, from before the row was made.
ALTER TABLE causal_links ADD COLUMN said_by TEXT;
ALTER TABLE pack_versions DROP COLUMN created_by;
UPDATE one_time_links SET created_by = maker_id WHERE maker_id IS NOT NULL;
CREATE TABLE makers (target TEXT, act TEXT, at INTEGER, maker TEXT) STRICT;
INSERT INTO makers SELECT target_id, action, at, actor_id FROM audit_events
WHERE action IN ('policy.changed', 'policy.restored', 'code.created', 'budget.set', 'link.created', 'link.confirmed', 'link.rejected')
  AND actor_id IN (SELECT id FROM users UNION ALL SELECT id FROM devices);
CREATE INDEX makers_by_target ON makers (target);
CREATE TABLE holders (email TEXT, holder TEXT, since INTEGER) STRICT;
INSERT INTO holders SELECT email, id, created_at FROM users
UNION SELECT f.email, f.user_id, u.created_at FROM former_addresses f JOIN users u ON u.id = f.user_id;
DELETE FROM holders WHERE email IN (SELECT email FROM holders GROUP BY email HAVING count(*) > 1);
CREATE INDEX holders_by_email ON holders (email);

-- Policies of a team that moved here have other numbers than in its events, so times are compared.
UPDATE policies SET created_by = coalesce(
  (SELECT maker FROM makers WHERE target = CAST(policies.id AS TEXT) AND act GLOB 'policy.*' AND abs(at - created_at) < 1000),
  (SELECT holder FROM holders WHERE email = created_by AND since <= created_at), created_by);
UPDATE connect_codes SET created_by = coalesce(
  (SELECT maker FROM makers WHERE target = lower(hex(substr(code_hash, 1, 8))) AND act = 'code.created'),
  (SELECT holder FROM holders WHERE email = created_by AND since <= created_at), created_by);
-- A person who changed one later is not its maker, nor is one who took a verdict back and gave another.
UPDATE budgets SET created_by = coalesce(
  (SELECT maker FROM makers WHERE target = budgets.id AND act = 'budget.set' AND abs(at - created_at) < 1000),
  (SELECT holder FROM holders WHERE email = created_by AND since <= created_at), created_by);
UPDATE causal_links SET decided_by = coalesce(
  (SELECT maker FROM makers WHERE target = causal_links.id AND act = 'link.' || verdict AND abs(at - decided_at) < 1000),
  (SELECT holder FROM holders WHERE email = decided_by AND since <= decided_at), decided_by)
WHERE decided_by IS NOT NULL;
UPDATE causal_links SET evidence = '[]', said_by = coalesce(
  (SELECT maker FROM makers WHERE target = causal_links.id AND act = 'link.created'),
  (SELECT holder FROM holders WHERE email || ' said so.' = evidence ->> '$[0].says' AND since <= created_at))
WHERE origin = 'person';
DROP TABLE makers;
DROP TABLE holders;
