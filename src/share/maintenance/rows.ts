import { BESIDE, type Preparer } from "../../platform/store/store.ts";

/** Statements for databases of any schema, a backup's too, so none is prepared ahead. */

const one = (db: Preparer, sql: string, ...parameters: unknown[]): unknown =>
  db
    .prepare(sql)
    .pluck()
    .get(...parameters);

/** Begins reading: from here on a transaction sees one instant. */
export const readFirst = (db: Preparer): unknown => one(db, "SELECT count(*) FROM sqlite_schema");

/** Whether the schema has a table. */
export const hasTable = (db: Preparer, name: string): boolean =>
  one(db, "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", name) === 1;

/** What a backup says of itself. */
export const describeBackup = (db: Preparer) => ({
  madeAt: one(db, "SELECT made_at FROM backup_facts") as string,
  keys: one(db, "SELECT count(*) FROM backup_files WHERE name LIKE '%.pem' AND name <> ?", BESIDE.ledgerKey) as number,
  ownPrices: one(db, "SELECT EXISTS (SELECT 1 FROM backup_files WHERE name = 'prices.json')") === 1,
});

/** The files that a backup carries. */
export const backupFiles = (db: Preparer): { name: string; content: string }[] =>
  db.prepare<[], { name: string; content: string }>("SELECT name, content FROM backup_files").all();
