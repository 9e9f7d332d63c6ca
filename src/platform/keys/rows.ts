import { type Preparer, statements } from "../store/store.ts";

export interface KeyRow {
  readonly kid: string;
  readonly alg: string;
  readonly publicPem: string;
  readonly createdAt: number;
  readonly retiredAt: number | null;
}

const KEY = "kid, alg, public_pem AS publicPem, created_at AS createdAt, retired_at AS retiredAt";

export interface WrappedRow {
  /** Which keys they are. */
  readonly kid: string;
  readonly salt: Buffer;
  readonly sealed: string;
  readonly wrappedAt: number;
}

/** The private keys under a passphrase, one row at most; a database of an older schema has no such table. */
export const wrappedRows = statements((db, has) => ({
  get: db.prepare<[], WrappedRow>(
    has("wrapped_keys", "id")
      ? "SELECT kid, salt, sealed, wrapped_at AS wrappedAt FROM wrapped_keys WHERE id = 1"
      : "SELECT '' AS kid, x'' AS salt, '' AS sealed, 0 AS wrappedAt WHERE 0",
  ),
  put: db.prepare<[string, Buffer, string, number]>(
    "INSERT OR REPLACE INTO wrapped_keys (id, kid, salt, sealed, wrapped_at) VALUES (1, ?, ?, ?, ?)",
  ),
}));

export const rows = statements((db) => ({
  // By signing_keys_one_active.
  active: db.prepare<[], KeyRow>(`SELECT ${KEY} FROM signing_keys WHERE retired_at IS NULL`),
  keys: db.prepare<[], KeyRow>(`SELECT ${KEY} FROM signing_keys ORDER BY created_at DESC, kid`),
  insert: db.prepare<[string, string, string, number]>(
    "INSERT INTO signing_keys (kid, alg, public_pem, created_at) VALUES (?, ?, ?, ?)",
  ),
  retire: db.prepare<[number]>("UPDATE signing_keys SET retired_at = ? WHERE retired_at IS NULL"),
}));

/** The public half of the key that a database signs with, of any schema, a backup's too; undefined where it has none yet. */
export const activePublicPem = (db: Preparer): string | undefined =>
  db.prepare<[], string>("SELECT public_pem FROM signing_keys WHERE retired_at IS NULL").pluck().get();

/** The signing keys that a database knows, by their kids. */
export const keyIds = (db: Preparer): { readonly id: string }[] =>
  db.prepare<[], { id: string }>("SELECT kid AS id FROM signing_keys").all();
