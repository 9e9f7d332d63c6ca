import { statements } from "../store/store.ts";

export interface DeliveryRow {
  readonly id: number;
  readonly teamId: string;
  readonly deviceId: string;
  readonly kind: "telemetry" | "brain" | "traces";
  readonly repoKey: string;
  readonly mode: string | null;
  readonly receivedAt: number;
  readonly items: number;
  readonly redacted: number;
  readonly flagged: "gap" | "rollback" | null;
  readonly contentSha256: Buffer;
  readonly chainSha256: Buffer;
}

const ROW = `id, team_id AS teamId, device_id AS deviceId, kind, repo_key AS repoKey, mode, received_at AS receivedAt,
  items, redacted, flagged, content_sha256 AS contentSha256, chain_sha256 AS chainSha256`;

export const rows = statements((db) => ({
  // By position: this runs with every delivery, and binding by name costs as much again.
  insert: db.prepare<
    [number, string, string, string, string, string | null, number, number, number, string | null, Buffer, Buffer]
  >(
    `INSERT INTO deliveries (id, team_id, device_id, kind, repo_key, mode, received_at, items, redacted, flagged, content_sha256, chain_sha256)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ),
  withdraw: db.prepare<[number]>("DELETE FROM deliveries WHERE id = ?"),
  // By the primary key, from its end.
  last: db.prepare<[], Pick<DeliveryRow, "id" | "chainSha256">>(
    "SELECT id, chain_sha256 AS chainSha256 FROM deliveries ORDER BY id DESC LIMIT 1",
  ),
  all: db.prepare<[], DeliveryRow>(`SELECT ${ROW} FROM deliveries ORDER BY id`),
}));
