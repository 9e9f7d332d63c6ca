import { statements } from "../../platform/store/store.ts";
import { type DocumentPlace, documentPlace } from "./document-rows.ts";

/** Where something stands: null for what was delivered before there were items. */
interface Placed {
  readonly deliveryId: number;
  readonly item: number | null;
}

interface SessionRow extends Placed {
  readonly document: string;
  readonly externalId: string;
  readonly repoKey: string;
}

export interface SpanRow extends Placed, DocumentPlace {
  readonly id: number;
  readonly externalId: string;
}

interface LabelRow extends Placed {
  readonly document: string;
  readonly repoKey: string;
  readonly session: string | null;
}

export const exportRows = statements((db) => ({
  // By primary key.
  session: db.prepare<[number], SessionRow>(
    "SELECT external_id AS externalId, repo_key AS repoKey, delivery_id AS deliveryId, item, document FROM trace_sessions WHERE id = ?",
  ),
  // By trace_spans_by_session, then in the order of ids.
  spans: db.prepare<[number, number, number], SpanRow>(
    `SELECT id, external_id AS externalId, delivery_id AS deliveryId, item, ${documentPlace()} FROM trace_spans WHERE session_id = ? AND id > ? ORDER BY id LIMIT ?`,
  ),
  // By trace_labels_by_session, its first column.
  labels: db.prepare<[{ deviceId: string; repoKey: string | null }], LabelRow>(
    `SELECT repo_key AS repoKey, session_id AS session, delivery_id AS deliveryId, item, document FROM trace_labels
     WHERE device_id = @deviceId AND (@repoKey IS NULL OR repo_key = @repoKey) ORDER BY id`,
  ),
}));
