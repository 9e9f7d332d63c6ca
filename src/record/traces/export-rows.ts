import { statements } from "../../platform/store/store.ts";

/** Where something stands: null for what was delivered before there were items. */
interface Placed {
  readonly deliveryId: number;
  readonly item: number | null;
  readonly document: string;
}

interface SessionRow extends Placed {
  readonly externalId: string;
  readonly repoKey: string;
}

export interface SpanRow extends Placed {
  readonly id: number;
  readonly externalId: string;
}

interface LabelRow extends Placed {
  readonly repoKey: string;
  readonly session: string | null;
}

/** An item of a delivery, and the repository that it stands in now. */
interface ItemOf {
  readonly item: number;
  readonly repoKey: string;
  readonly document: string;
}

export const exportRows = statements((db) => ({
  // By primary key.
  session: db.prepare<[number], SessionRow>(
    "SELECT external_id AS externalId, repo_key AS repoKey, delivery_id AS deliveryId, item, document FROM trace_sessions WHERE id = ?",
  ),
  // By trace_spans_by_session, then in the order of ids.
  spans: db.prepare<[number, number, number], SpanRow>(
    "SELECT id, external_id AS externalId, delivery_id AS deliveryId, item, document FROM trace_spans WHERE session_id = ? AND id > ? ORDER BY id LIMIT ?",
  ),
  // By trace_labels_by_session, its first column.
  labels: db.prepare<[{ deviceId: string; repoKey: string | null }], LabelRow>(
    `SELECT repo_key AS repoKey, session_id AS session, delivery_id AS deliveryId, item, document FROM trace_labels
     WHERE device_id = @deviceId AND (@repoKey IS NULL OR repo_key = @repoKey) ORDER BY id`,
  ),
  // All by the tables' indexes of deliveries; sessions of spans by primary key.
  sessionsOf: db.prepare<[number], ItemOf & { externalId: string }>(
    "SELECT item, repo_key AS repoKey, external_id AS externalId, document FROM trace_sessions WHERE delivery_id = ? AND item IS NOT NULL",
  ),
  spansOf: db.prepare<[number], ItemOf & { externalId: string; session: string }>(
    `SELECT p.item, s.repo_key AS repoKey, s.external_id AS session, p.external_id AS externalId, p.document
     FROM trace_spans p CROSS JOIN trace_sessions s ON s.id = p.session_id WHERE p.delivery_id = ? AND p.item IS NOT NULL`,
  ),
  labelsOf: db.prepare<[number], ItemOf>(
    "SELECT item, repo_key AS repoKey, document FROM trace_labels WHERE delivery_id = ? AND item IS NOT NULL",
  ),
}));
