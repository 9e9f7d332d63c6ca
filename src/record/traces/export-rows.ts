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

/** An item of a delivery, and the repository that it stands in now. */
interface ItemOf {
  readonly item: number;
  readonly repoKey: string;
}

interface DocumentOf extends ItemOf {
  readonly document: string;
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
  // All by the tables' indexes of deliveries; sessions of spans by primary key.
  sessionsOf: db.prepare<[number], DocumentOf & { externalId: string }>(
    "SELECT item, repo_key AS repoKey, external_id AS externalId, document FROM trace_sessions WHERE delivery_id = ? AND item IS NOT NULL",
  ),
  spansOf: db.prepare<[number], ItemOf & DocumentPlace & { externalId: string; session: string }>(
    `SELECT p.item, s.repo_key AS repoKey, s.external_id AS session, p.external_id AS externalId, p.document AS plain, p.block_id AS blockId,
       p.block_at AS blockAt, p.bytes
     FROM trace_spans p CROSS JOIN trace_sessions s ON s.id = p.session_id WHERE p.delivery_id = ? AND p.item IS NOT NULL`,
  ),
  labelsOf: db.prepare<[number], DocumentOf>(
    "SELECT item, repo_key AS repoKey, document FROM trace_labels WHERE delivery_id = ? AND item IS NOT NULL",
  ),
}));
