import { statements } from "../store/store.ts";

export const rows = statements((db) => ({
  read: db.prepare<[], number>("SELECT probed_at FROM health_probes WHERE id = 1").pluck(),
  write: db.prepare<[number, Buffer]>(
    "INSERT INTO health_probes (id, probed_at, filler) VALUES (1, ?, ?) ON CONFLICT (id) DO UPDATE SET probed_at = excluded.probed_at, filler = excluded.filler",
  ),
}));
