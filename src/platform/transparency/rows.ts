import { statements } from "../store/store.ts";

export interface LeafRow {
  /** From 1 on; the leaf's index in the tree is one less. */
  readonly n: number;
  readonly sha256: Buffer;
}

export const rows = statements((db, has) => {
  const leaves = has("log_leaves", "n") ? "log_leaves" : "(SELECT 0 AS n, x'' AS sha256) WHERE 0";
  const and = has("log_leaves", "n") ? "WHERE" : "AND";
  return {
    // All by the primary key.
    last: db.prepare<[], number | null>(`SELECT max(n) FROM ${leaves}`).pluck(),
    insert: db.prepare<[number, Buffer]>("INSERT INTO log_leaves (n, sha256) VALUES (?, ?)"),
    leaf: db.prepare<[number], Buffer>(`SELECT sha256 FROM ${leaves} ${and} n = ?`).pluck(),
    after: db.prepare<[number, number], LeafRow>(
      `SELECT n, sha256 FROM ${leaves} ${and} n > ? ORDER BY n LIMIT ?`,
    ),
    all: db.prepare<[], LeafRow>(`SELECT n, sha256 FROM ${leaves} ORDER BY n`),
    subtrees: db.prepare<[], LeafRow>("SELECT n, sha256 FROM log_subtrees ORDER BY n"),
    insertSubtree: db.prepare<[number, Buffer]>("INSERT OR IGNORE INTO log_subtrees (n, sha256) VALUES (?, ?)"),
    epoch: db.prepare<[], { leaf: number; data: string }>(
      `SELECT leaf, data FROM ${has("log_epochs", "leaf") ? "log_epochs" : "(SELECT 0 AS leaf, '' AS data) WHERE 0"} ORDER BY leaf DESC LIMIT 1`,
    ),
    epochs: db.prepare<[], { leaf: number; data: string }>("SELECT leaf, data FROM log_epochs ORDER BY leaf"),
    insertEpoch: db.prepare<[number, string]>("INSERT INTO log_epochs (leaf, data) VALUES (?, ?)"),
  };
});
