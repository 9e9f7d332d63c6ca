import type { Subtree } from "../../kit/sparse-tree.ts";
import { statements } from "../store/store.ts";

export interface LeafRow {
  /** From 1 on; the leaf's index in the tree is one less. */
  readonly n: number;
  readonly sha256: Buffer;
}

export const rows = statements((db, has) => ({
  hasTree: has("log_leaves", "n"),
  // All by the primary key.
  last: db.prepare<[], number | null>("SELECT max(n) FROM log_leaves").pluck(),
  insert: db.prepare<[number, Buffer]>("INSERT INTO log_leaves (n, sha256) VALUES (?, ?)"),
  leaf: db.prepare<[number], Buffer>("SELECT sha256 FROM log_leaves WHERE n = ?").pluck(),
  after: db.prepare<[number, number], LeafRow>("SELECT n, sha256 FROM log_leaves WHERE n > ? ORDER BY n LIMIT ?"),
  all: db.prepare<[], LeafRow>("SELECT n, sha256 FROM log_leaves ORDER BY n"),
  subtrees: db.prepare<[], LeafRow>("SELECT n, sha256 FROM log_subtrees ORDER BY n"),
  insertSubtree: db.prepare<[number, Buffer]>("INSERT OR IGNORE INTO log_subtrees (n, sha256) VALUES (?, ?)"),
  epochs: db.prepare<[], { leaf: number; data: string }>("SELECT leaf, data FROM log_epochs ORDER BY leaf"),
  // All by the primary keys; a database of an older program has none of them.
  imports: db.prepare<[], { leaf: number; data: string }>(
    has("log_imports", "leaf")
      ? "SELECT leaf, data FROM log_imports ORDER BY leaf"
      : "SELECT 0 AS leaf, '' AS data WHERE 0",
  ),
  insertImport: db.prepare<[number, string, string]>("INSERT INTO log_imports (leaf, team_id, data) VALUES (?, ?, ?)"),
  importLeaves: db.prepare<[number], LeafRow>(
    `SELECT m.origin AS n, l.sha256 FROM log_import_leaves m JOIN log_leaves l ON l.n = m.leaf WHERE m.import_leaf = ? ORDER BY m.origin`,
  ),
  importNodes: db.prepare<[number], Subtree & { readonly sha256: Buffer }>(
    "SELECT first, level, sha256 FROM log_import_nodes WHERE import_leaf = ? ORDER BY first",
  ),
  insertEpoch: db.prepare<[number, string]>("INSERT INTO log_epochs (leaf, data) VALUES (?, ?)"),
}));
