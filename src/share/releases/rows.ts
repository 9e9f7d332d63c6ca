import { statements } from "../../platform/store/store.ts";

export interface ReleaseRow {
  readonly platform: string;
  readonly version: string;
  readonly url: string | null;
  readonly fileName: string | null;
  /** 0 when nobody told. */
  readonly bytes: number;
  readonly sha512: Buffer;
  readonly createdAt: number;
}

const COLUMNS = "platform, version, url, file_name AS fileName, bytes, sha512, created_at AS createdAt";

export const rows = statements((db) => ({
  // By the primary key, but for `all` and `holders`, which read a table of tens of rows.
  all: db.prepare<[], ReleaseRow>(`SELECT ${COLUMNS} FROM releases`),
  ofPlatform: db.prepare<[string], ReleaseRow>(`SELECT ${COLUMNS} FROM releases WHERE platform = ?`),
  byVersion: db.prepare<[string, string], ReleaseRow>(
    `SELECT ${COLUMNS} FROM releases WHERE platform = ? AND version = ?`,
  ),
  insert: db.prepare<[ReleaseRow]>(
    `INSERT INTO releases (platform, version, url, file_name, bytes, sha512, created_at)
     VALUES (@platform, @version, @url, @fileName, @bytes, @sha512, @createdAt)`,
  ),
  remove: db.prepare<[string, string]>("DELETE FROM releases WHERE platform = ? AND version = ?"),
  holders: db
    .prepare<[Buffer], number>("SELECT count(*) FROM releases WHERE sha512 = ? AND file_name IS NOT NULL")
    .pluck(),
}));
