import { statements } from "../../platform/store/store.ts";

/** An entry whose payload may tell of usage or cost, with what its stream says of it. */
export interface MeteredEntry {
  readonly id: number;
  readonly teamId: string;
  readonly deviceId: string;
  readonly repoKey: string;
  readonly receivedAt: number;
  readonly clientTimestamp: string | null;
  readonly payload: string;
}

export const meteredRows = statements((db) => ({
  // The end of the table's own b-tree.
  lastId: db.prepare<[], number | null>("SELECT max(id) FROM telemetry_entries").pluck(),
  // Both by primary key; streams and deliveries by theirs.
  end: db
    .prepare<[number, number], number | null>(
      "SELECT max(id) FROM (SELECT id FROM telemetry_entries WHERE id > ? ORDER BY id LIMIT ?)",
    )
    .pluck(),
  within: db.prepare<[number, number], MeteredEntry>(
    `SELECT e.id, s.team_id AS teamId, s.device_id AS deviceId, s.repo_key AS repoKey, d.received_at AS receivedAt,
       e.client_timestamp AS clientTimestamp, e.payload
     FROM telemetry_entries e CROSS JOIN telemetry_streams s ON s.id = e.stream_id CROSS JOIN deliveries d ON d.id = e.delivery_id
     WHERE e.id > ? AND e.id <= ? AND (instr(e.payload, 'usage') OR instr(e.payload, 'costUsd')) ORDER BY e.id`,
  ),
}));
