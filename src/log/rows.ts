import { statements } from "../platform/store/store.ts";

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

/** What a delivery adds to its day. */
export interface DayFacts {
  readonly teamId: string;
  readonly kind: DeliveryRow["kind"];
  readonly receivedAt: number;
  readonly items: number;
  readonly flagged: DeliveryRow["flagged"];
}

export interface DayRow {
  readonly kind: DeliveryRow["kind"];
  readonly day: number;
  readonly deliveries: number;
  readonly items: number;
  readonly gaps: number;
  readonly rollbacks: number;
}

/** A delivery that was flagged, and whose it was. */
export interface FlagRow {
  readonly deliveryId: number;
  readonly deviceId: string;
  readonly deviceLabel: string | null;
  readonly repoKey: string;
  readonly kind: DeliveryRow["kind"];
  readonly flagged: "gap" | "rollback";
  readonly items: number;
  readonly at: number;
}

/** A delivery as those see it who follow what arrives. */
export interface FollowedRow {
  readonly id: number;
  readonly teamId: string;
  readonly kind: DeliveryRow["kind"];
  readonly repoKey: string;
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
  withdraw: db.prepare<[number], DayFacts>(
    "DELETE FROM deliveries WHERE id = ? RETURNING team_id AS teamId, kind, received_at AS receivedAt, items, flagged",
  ),
  // By delivery_days' primary key.
  countDay: db.prepare<[string, string, number, number, number, number]>(
    `INSERT INTO delivery_days (team_id, kind, day, deliveries, items, gaps, rollbacks) VALUES (?, ?, ?, 1, ?, ?, ?)
     ON CONFLICT (team_id, kind, day) DO UPDATE SET deliveries = deliveries + 1, items = items + excluded.items,
       gaps = gaps + excluded.gaps, rollbacks = rollbacks + excluded.rollbacks`,
  ),
  uncountDay: db.prepare<[number, number, number, string, string, number]>(
    `UPDATE delivery_days SET deliveries = deliveries - 1, items = items - ?, gaps = gaps - ?, rollbacks = rollbacks - ?
     WHERE team_id = ? AND kind = ? AND day = ?`,
  ),
  dropEmptyDay: db.prepare<[string, string, number]>(
    "DELETE FROM delivery_days WHERE team_id = ? AND kind = ? AND day = ? AND deliveries = 0",
  ),
  // By the primary key's first column, once a kind.
  days: db.prepare<[string, number, number], DayRow>(
    `SELECT kind, day, deliveries, items, gaps, rollbacks FROM delivery_days
     WHERE team_id = ? AND kind IN ('telemetry', 'brain', 'traces') AND day BETWEEN ? AND ?`,
  ),
  // By the partial index deliveries_flagged, from its end; devices by primary key.
  flagged: db.prepare<[string, number], FlagRow>(
    `SELECT l.id AS deliveryId, l.device_id AS deviceId, d.label AS deviceLabel, l.repo_key AS repoKey, l.kind, l.flagged, l.items,
       l.received_at AS at
     FROM deliveries l JOIN devices d ON d.id = l.device_id
     WHERE l.team_id = ? AND l.flagged IS NOT NULL ORDER BY l.id DESC LIMIT ?`,
  ),
  // By the primary key, from its end.
  last: db.prepare<[], Pick<DeliveryRow, "id" | "chainSha256">>(
    "SELECT id, chain_sha256 AS chainSha256 FROM deliveries ORDER BY id DESC LIMIT 1",
  ),
  // By the primary key.
  after: db.prepare<[number, number], FollowedRow>(
    "SELECT id, team_id AS teamId, kind, repo_key AS repoKey FROM deliveries WHERE id > ? ORDER BY id LIMIT ?",
  ),
  receivedAt: db.prepare<[number], number>("SELECT received_at FROM deliveries WHERE id = ?").pluck(),
  // A walk of the table; devices by primary key.
  foreign: db.prepare<[], Pick<DeliveryRow, "id" | "kind">>(
    "SELECT l.id, l.kind FROM deliveries l JOIN devices d ON d.id = l.device_id WHERE d.team_id <> l.team_id ORDER BY l.id",
  ),
  all: db.prepare<[], DeliveryRow>(`SELECT ${ROW} FROM deliveries ORDER BY id`),
}));
