-- Who made a one-time link, so that it ends with what its maker may do. Links of before know their maker by address alone.
ALTER TABLE account_links ADD COLUMN maker_id TEXT REFERENCES users (id);
UPDATE account_links SET maker_id = (SELECT id FROM users WHERE users.email = account_links.created_by);
