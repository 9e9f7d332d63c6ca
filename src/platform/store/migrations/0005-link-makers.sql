-- The maker of a one-time link, with whose rights it works and ends. For older links the maker is known only by address.
ALTER TABLE account_links ADD COLUMN maker_id TEXT REFERENCES users (id);
UPDATE account_links SET maker_id = (SELECT id FROM users WHERE users.email = account_links.created_by);
