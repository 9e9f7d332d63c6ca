import { statements } from "../store/store.ts";

export const rows = statements((db) => ({
  // By primary key.
  position: db.prepare<[string], number>("SELECT position FROM derivations WHERE name = ?").pluck(),
  start: db.prepare<[string]>("INSERT INTO derivations (name, position) VALUES (?, 0) ON CONFLICT (name) DO NOTHING"),
  // The newest delivery: the end of the table's own b-tree.
  lastDelivery: db.prepare<[], number>("SELECT max(id) FROM deliveries").pluck(),
  advance: db.prepare<[number, string, number]>("UPDATE derivations SET position = ? WHERE name = ? AND position = ?"),
}));
