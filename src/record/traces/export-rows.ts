import { statements } from "../../platform/store/store.ts";

interface LabelRow {
  readonly repoKey: string;
  readonly session: string | null;
  readonly deliveryId: number;
  readonly document: string;
}

export const exportRows = statements((db) => ({
  // By primary key.
  session: db.prepare<[number], { externalId: string; repoKey: string; deliveryId: number; document: string }>(
    "SELECT external_id AS externalId, repo_key AS repoKey, delivery_id AS deliveryId, document FROM trace_sessions WHERE id = ?",
  ),
  // By trace_spans_by_session, then in the order of ids.
  spans: db.prepare<[number, number, number], { id: number; deliveryId: number; document: string }>(
    "SELECT id, delivery_id AS deliveryId, document FROM trace_spans WHERE session_id = ? AND id > ? ORDER BY id LIMIT ?",
  ),
  // By trace_labels_by_session, its first column.
  labels: db.prepare<[{ deviceId: string; repoKey: string | null }], LabelRow>(
    `SELECT repo_key AS repoKey, session_id AS session, delivery_id AS deliveryId, document FROM trace_labels
     WHERE device_id = @deviceId AND (@repoKey IS NULL OR repo_key = @repoKey) ORDER BY id`,
  ),
}));
