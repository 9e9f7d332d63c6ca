import { statements } from "../../platform/store/store.ts";

export interface WithheldRow {
  readonly id: number;
  readonly streamId: number;
  readonly first: number;
  readonly last: number;
  readonly deliveryId: number;
}

const ROW = "SELECT id, stream_id AS streamId, first, last, delivery_id AS deliveryId";

export const rows = statements((db, has) => {
  const source = has("withheld_ranges", "id")
    ? "FROM withheld_ranges"
    : "FROM (SELECT 0 AS id, '' AS kind, 0 AS stream_id, 0 AS first, 0 AS last, 0 AS delivery_id)";
  return {
    insert: db.prepare<[string, number, number, number, number]>(
      "INSERT INTO withheld_ranges (kind, stream_id, first, last, delivery_id) VALUES (?, ?, ?, ?, ?)",
    ),
    // By the unique index (kind, stream_id, first): ranges of a stream do not overlap.
    atOrBelow: db.prepare<[string, number, number], WithheldRow>(
      `${ROW} ${source} WHERE kind = ? AND stream_id = ? AND first <= ? ORDER BY first DESC LIMIT 1`,
    ),
    // In the order of ids, which is the order of deliveries. Two statements, because both kinds are iterated at the same time.
    byDelivery: {
      telemetry: db.prepare<[], WithheldRow>(`${ROW} ${source} WHERE kind = 'telemetry' ORDER BY id`),
      brain: db.prepare<[], WithheldRow>(`${ROW} ${source} WHERE kind = 'brain' ORDER BY id`),
    },
  };
});
