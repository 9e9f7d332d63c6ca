import { type Preparer, statements } from "../platform/store/store.ts";

export interface DeliveryFacts {
  readonly id: number;
  readonly teamId: string;
  readonly deviceId: string;
  readonly kind: "telemetry" | "brain" | "traces";
  readonly repoKey: string;
  readonly receivedAt: number;
  readonly items: number;
  readonly redacted: number;
  readonly flagged: "gap" | "rollback" | null;
  /** The capture mode in force when it arrived; null for what came before that was noted. */
  readonly captureMode: "off" | "metadata" | "redacted" | "full" | null;
  /** The number of entries, files, sessions and labels of which the capture mode withheld something. */
  readonly withheld: number;
  /** The last erasure that removed any of its items; null when none did. */
  readonly erasedBy: string | null;
  /** How many of its items are gone. */
  readonly erasedItems: number;
}

export interface DeliveryRow extends DeliveryFacts {
  /** What the client calls its way of working. */
  readonly mode: string | null;
  /** The root over its items; for a chained delivery, a digest of the content. */
  readonly contentSha256: Buffer;
  /** For a delivery from before the tree: the digest of the row and all before it. */
  readonly chainSha256: Buffer | null;
  /** The id of its stream, and the delivery before it in that stream. Null for a chained delivery. */
  readonly streamId: number | null;
  readonly previous: number | null;
  /** Null for a chained delivery. */
  readonly itemCount: number | null;
  /** The key that the items' salts follow from. */
  readonly itemKey: Buffer | null;
  /** After an erasure of items, the salts in place of the key; those of erased items are zero. */
  readonly itemSalts: Buffer | null;
  /** SHA-256 of a salt, which only its sender was told, and the body as it was sent. */
  readonly sentSha256: Buffer | null;
  /** JSON, see `MovedFrom`; null for what was delivered to this instance. */
  readonly movedFrom: string | null;
}

/** One device's deliveries of a kind for one repository. */
export interface StreamRow {
  readonly id: number;
  /** The newest of them. */
  readonly last: number;
}

/** Parameters for a team's deliveries in a range of ids that are not erased entirely. */
interface UnerasedQuery {
  readonly teamId: string;
  readonly kind: string;
  readonly low: number;
  readonly high: number;
}

/** The condition that a delivery is not erased entirely. */
const IS_LEFT = "(erased_by IS NULL OR erased_items < items)";

/** What a stream is of, as one text: a device's id and a kind have no spaces. */
const STREAM = "device_id || ' ' || kind || ' ' || repo_key";

/** What a delivery adds to its day. */
export type DayFacts = Pick<DeliveryFacts, "teamId" | "kind" | "receivedAt" | "items" | "flagged">;

export interface DayRow {
  readonly kind: DeliveryRow["kind"];
  readonly day: number;
  readonly deliveries: number;
  readonly items: number;
  readonly gaps: number;
  readonly rollbacks: number;
}

const factsOf = (
  hasModes: boolean,
  hasErasures: boolean,
) => `id, team_id AS teamId, device_id AS deviceId, kind, repo_key AS repoKey, received_at AS receivedAt, items, redacted,
  flagged, ${hasModes ? "capture_mode AS captureMode, withheld" : "NULL AS captureMode, 0 AS withheld"},
  ${hasErasures ? "erased_by AS erasedBy, erased_items AS erasedItems" : "NULL AS erasedBy, 0 AS erasedItems"}`;

const LEAF_FACTS = `mode, content_sha256 AS contentSha256, chain_sha256 AS chainSha256`;
const TREE_FACTS = `stream_id AS streamId, previous, item_count AS itemCount, item_key AS itemKey, sent_sha256 AS sentSha256`;
const NO_TREE_FACTS = "NULL AS streamId, NULL AS previous, NULL AS itemCount, NULL AS itemKey, NULL AS sentSha256";

export const rows = statements((db, has) => {
  const FACTS = factsOf(has("deliveries", "capture_mode"), has("deliveries", "erased_by"));
  const WHOLE = `${FACTS}, ${LEAF_FACTS}, ${has("deliveries", "item_key") ? TREE_FACTS : NO_TREE_FACTS}, ${has("deliveries", "item_salts") ? "item_salts" : "NULL"} AS itemSalts,
    ${has("deliveries", "moved_from") ? "moved_from" : "NULL"} AS movedFrom`;
  return {
    // By position: this runs with every delivery, and binding by name costs as much again.
    insert: db.prepare<
      [
        ...[id: number, teamId: string, deviceId: string, kind: string, repoKey: string, mode: string | null],
        ...[receivedAt: number, items: number, redacted: number, flagged: string | null],
        ...[captureMode: string | null, withheld: number, contentSha256: Buffer, streamId: number],
        ...[previous: number | null, itemCount: number, itemKey: Buffer, sentSha256: Buffer],
      ]
    >(
      `INSERT INTO deliveries (id, team_id, device_id, kind, repo_key, mode, received_at, items, redacted, flagged, capture_mode, withheld,
         content_sha256, stream_id, previous, item_count, item_key, sent_sha256)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    // By delivery_streams' unique index (device_id, kind, repo_key).
    stream: db.prepare<[string, string, string], StreamRow>(
      "SELECT id, last FROM delivery_streams WHERE device_id = ? AND kind = ? AND repo_key = ?",
    ),
    // By the same index's first column: a device has a few streams.
    delivered: db
      .prepare<[string, string], number>(
        "SELECT EXISTS (SELECT 1 FROM delivery_streams WHERE device_id = ? AND repo_key = ?)",
      )
      .pluck(),
    insertStream: db
      .prepare<[string, string, string, number], number>(
        "INSERT INTO delivery_streams (device_id, kind, repo_key, last) VALUES (?, ?, ?, ?) RETURNING id",
      )
      .pluck(),
    advanceStream: db.prepare<[number, number]>("UPDATE delivery_streams SET last = ? WHERE id = ?"),
    // Both by delivery_items' primary key.
    putItem: db.prepare<[number, number, Buffer]>(
      "INSERT OR IGNORE INTO delivery_items (delivery_id, item, sha256) VALUES (?, ?, ?)",
    ),
    items: db.prepare<[number], { item: number; sha256: Buffer }>(
      `SELECT item, sha256 FROM ${has("delivery_items", "item") ? "delivery_items" : "(SELECT 0 AS delivery_id, 0 AS item, x'' AS sha256)"}
       WHERE delivery_id = ? ORDER BY item`,
    ),
    // By delivery_days' primary key.
    countDay: db.prepare<[string, string, number, number, number, number]>(
      `INSERT INTO delivery_days (team_id, kind, day, deliveries, items, gaps, rollbacks) VALUES (?, ?, ?, 1, ?, ?, ?)
     ON CONFLICT (team_id, kind, day) DO UPDATE SET deliveries = deliveries + 1, items = items + excluded.items,
       gaps = gaps + excluded.gaps, rollbacks = rollbacks + excluded.rollbacks`,
    ),
    // By the primary key's first column, once a kind.
    days: db.prepare<[string, number, number], DayRow>(
      `SELECT kind, day, deliveries, items, gaps, rollbacks FROM delivery_days
     WHERE team_id = ? AND kind IN ('telemetry', 'brain', 'traces') AND day BETWEEN ? AND ?`,
    ),
    // By the primary key's first column.
    totals: db.prepare<[string], Omit<DayRow, "day">>(
      `SELECT kind, sum(deliveries) AS deliveries, sum(items) AS items, sum(gaps) AS gaps, sum(rollbacks) AS rollbacks
       FROM delivery_days WHERE team_id = ? GROUP BY kind`,
    ),
    // By the partial index deliveries_flagged, from its end.
    flagged: db.prepare<
      [{ teamId: string; ofTelemetry: number | null; most: number }],
      DeliveryFacts & { flagged: "gap" | "rollback" }
    >(
      `SELECT ${FACTS} FROM deliveries WHERE team_id = @teamId AND flagged IS NOT NULL
         AND (@ofTelemetry IS NULL OR (kind = 'telemetry') = @ofTelemetry) ORDER BY id DESC LIMIT @most`,
    ),
    // By the primary key, from its end.
    last: db.prepare<[], number | null>("SELECT max(id) FROM deliveries").pluck(),
    // Both of the row with the maximum; null where there is none.
    latest: db
      .prepare<[], [id: number, receivedAt: number]>(
        "SELECT id, max(received_at) FROM (SELECT id, received_at FROM deliveries ORDER BY id DESC LIMIT 100)",
      )
      .raw(),
    // All by the primary key.
    delivery: db.prepare<[number], DeliveryFacts>(`SELECT ${FACTS} FROM deliveries WHERE id = ?`),
    after: db.prepare<[number, number], DeliveryFacts>(
      `SELECT ${FACTS} FROM deliveries WHERE id > ? ORDER BY id LIMIT ?`,
    ),
    // Both by deliveries_by_team.
    ofTeamDown: db.prepare<[string, number, number], DeliveryFacts>(
      `SELECT ${FACTS} FROM deliveries WHERE team_id = ? AND id <= ? ORDER BY id DESC LIMIT ?`,
    ),
    ofTeamUp: db.prepare<[string, number, number], DeliveryFacts>(
      `SELECT ${FACTS} FROM deliveries WHERE team_id = ? AND id >= ? ORDER BY id LIMIT ?`,
    ),
    whole: db.prepare<[number], DeliveryRow>(`SELECT ${WHOLE} FROM deliveries WHERE id = ?`),
    // By deliveries_by_team.
    export: db.prepare<[string, number, number], DeliveryRow>(
      `SELECT ${WHOLE} FROM deliveries WHERE team_id = ? AND id > ? ORDER BY id LIMIT ?`,
    ),
    // By primary key.
    markErased: db.prepare<[string, number]>(
      // The mode of telemetry is text that the device sent; only the digest of a chained delivery asks for it afterwards.
      `UPDATE deliveries SET erased_by = ?, erased_items = items, item_key = NULL, item_salts = NULL,
         mode = iif(kind = 'telemetry' AND chain_sha256 IS NULL, NULL, mode)
       WHERE id = ?`,
    ),
    keepSalts: db.prepare<[Buffer, number]>("UPDATE deliveries SET item_key = NULL, item_salts = ? WHERE id = ?"),
    dropItems: db.prepare<[number]>("DELETE FROM delivery_items WHERE delivery_id = ?"),
    markErasedInPart: db.prepare<[string, number, number]>(
      "UPDATE deliveries SET erased_by = ?, erased_items = min(items, erased_items + ?) WHERE id = ?",
    ),
    // By deliveries_by_team's range.
    unerased: db.prepare<[UnerasedQuery], Pick<DeliveryFacts, "id" | "deviceId" | "repoKey" | "receivedAt">>(
      `SELECT id, device_id AS deviceId, repo_key AS repoKey, received_at AS receivedAt FROM deliveries
       WHERE team_id = @teamId AND id BETWEEN @low AND @high AND kind = @kind AND ${IS_LEFT}
       ORDER BY id`,
    ),
    // By the primary key, once an id.
    left: db
      .prepare<[{ ids: string; until: number; through: number }], number>(
        `SELECT d.id FROM json_each(@ids) CROSS JOIN deliveries d ON d.id = value
         WHERE d.id <= @through AND received_at <= @until AND ${IS_LEFT}`,
      )
      .pluck(),
    // By deliveries_by_team, from a number on.
    cameSince: db
      .prepare<[Pick<DeliveryRow, "kind" | "deviceId"> & { teamId: string; through: number; at: number }], 1>(
        `SELECT 1 FROM deliveries WHERE team_id = @teamId AND id > @through AND device_id = @deviceId AND kind = @kind
           AND received_at = @at LIMIT 1`,
      )
      .pluck(),
    // A walk of the stream from its end, each by the primary key.
    anyErasedOfStream: has("deliveries", "erased_by")
      ? db
          .prepare<[string, string, string], 1>(
            `WITH RECURSIVE of_stream (id) AS (
               SELECT last FROM delivery_streams WHERE device_id = ? AND kind = ? AND repo_key = ?
               UNION ALL SELECT d.previous FROM of_stream s CROSS JOIN deliveries d ON d.id = s.id WHERE d.previous IS NOT NULL)
             SELECT 1 FROM of_stream s CROSS JOIN deliveries d ON d.id = s.id WHERE d.erased_by IS NOT NULL LIMIT 1`,
          )
          .pluck()
      : undefined,
    // Walks the table; asked only for a stream whose newest delivery is erased.
    anyErased: db
      .prepare<[string, string, string], 1>(
        `SELECT 1 FROM deliveries WHERE ${has("deliveries", "erased_by") ? "erased_by IS NOT NULL" : "0"} AND kind = ? AND device_id = ? AND repo_key = ? LIMIT 1`,
      )
      .pluck(),
    // A walk of the table, oldest first: to have SQLite group them would take 100 MB of memory for a million.
    streamOf: db.prepare<[], [id: number, stream: string]>(`SELECT id, ${STREAM} FROM deliveries ORDER BY id`).raw(),
    // A walk of the streams; none in a database from before there were such.
    streamEnds: has("delivery_streams", "id")
      ? db.prepare<[], [last: number, stream: string]>(`SELECT last, ${STREAM} FROM delivery_streams`).raw()
      : undefined,
    // A walk of the table.
    all: db.prepare<[], DeliveryRow>(`SELECT ${WHOLE} FROM deliveries ORDER BY id`),
  };
});

/** Deliveries of a database that no instance runs on. */
export function countDeliveries(db: Preparer): number {
  return db.prepare<[], number>("SELECT count(*) FROM deliveries").pluck().get() as number;
}
