import { holdsSought } from "../../kit/strings.ts";
import { statements } from "../../platform/store/store.ts";

export interface User {
  readonly id: string;
  readonly email: string;
  readonly emailKey: string;
  readonly name: string | null;
  readonly passwordHash: string | null;
  readonly operator: 0 | 1;
  readonly createdAt: number;
  readonly disabledAt: number | null;
}

const USER = `id, email, email_key AS emailKey, name, password_hash AS passwordHash, operator, created_at AS createdAt, disabled_at AS disabledAt`;

export const rows = statements((db) => ({
  insertUser: db.prepare<[User]>(
    `INSERT INTO users (id, email, email_key, name, password_hash, operator, created_at, disabled_at)
     VALUES (@id, @email, @emailKey, @name, @passwordHash, @operator, @createdAt, @disabledAt)`,
  ),
  // Both by unique index: the primary key, and users.email_key.
  userById: db.prepare<[string], User>(`SELECT ${USER} FROM users WHERE id = ?`),
  userByEmail: db.prepare<[string], User>(`SELECT ${USER} FROM users WHERE email_key = ?`),
  users: db.prepare<[], User>(`SELECT ${USER} FROM users ORDER BY created_at, id`),
  // In the order of users.email_key's unique index, from the address given on.
  usersFrom: db.prepare<[{ after: string; text: string | null; begins: string | null; limit: number }], User>(
    `SELECT ${USER} FROM users WHERE email_key > @after
       AND (@text IS NULL OR ${holdsSought("email_key", "name", "id")})
     ORDER BY email_key LIMIT @limit`,
  ),
  // By users' primary key for each.
  usersAmong: db.prepare<
    [{ ids: string; text: string | null; begins: string | null; after: string; most: number }],
    User
  >(
    `SELECT ${USER} FROM users WHERE id IN (SELECT value FROM json_each(@ids)) AND email_key > @after
       AND (@text IS NULL OR ${holdsSought("email_key", "name")}) ORDER BY email_key LIMIT @most`,
  ),
  anyUser: db.prepare<[], number>("SELECT 1 FROM users LIMIT 1").pluck(),
  otherOperators: db
    .prepare<[string], number>("SELECT count(*) FROM users WHERE operator = 1 AND disabled_at IS NULL AND id <> ?")
    .pluck(),
  setPassword: db.prepare<[string | null, string]>("UPDATE users SET password_hash = ? WHERE id = ?"),
  setEmail: db.prepare<[string, string, string]>("UPDATE users SET email = ?, email_key = ? WHERE id = ?"),
  // Both by former_addresses' primary key.
  keepFormer: db.prepare<[string, string]>("INSERT OR IGNORE INTO former_addresses (user_id, email) VALUES (?, ?)"),
  formersOf: db.prepare<[string], string>("SELECT email FROM former_addresses WHERE user_id = ?").pluck(),
  // The whole table.
  formers: db.prepare<[], { userId: string; email: string }>("SELECT user_id AS userId, email FROM former_addresses"),
  dropFormer: db.prepare<[string]>("DELETE FROM former_addresses WHERE user_id = ?"),
  setName: db.prepare<[string | null, string]>("UPDATE users SET name = ? WHERE id = ?"),
  setDisabled: db.prepare<[number | null, string]>("UPDATE users SET disabled_at = ? WHERE id = ?"),
  setOperator: db.prepare<[number, string]>("UPDATE users SET operator = ? WHERE id = ?"),
  close: db.prepare<[number, string]>("UPDATE users SET disabled_at = ? WHERE id = ? AND disabled_at IS NULL"),
  erase: db.prepare<[{ id: string; mark: string }]>(
    `UPDATE users SET email = @mark, email_key = @mark, name = NULL, password_hash = NULL, operator = 0
     WHERE id = @id AND email <> @mark`,
  ),
}));
