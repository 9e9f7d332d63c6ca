import { statements } from "../../platform/store/store.ts";
import { type DocumentPlace, documentPlace } from "./document-rows.ts";
import { USER_EMAIL } from "./twin-rows.ts";

export interface ErasableSession {
  readonly id: number;
  readonly teamId: string;
  readonly deviceId: string;
  readonly repoKey: string;
  readonly externalId: string;
}

/** A session that names somebody. */
export interface NamingSession extends ErasableSession {
  /** 1 where only an exported telling of it, from elsewhere, names them. */
  readonly byTwin: 0 | 1;
}

/** A row as an item of its delivery; null where that had none. */
export interface ErasableItem {
  readonly id: number;
  readonly deliveryId: number;
  readonly item: number | null;
  readonly document: string;
}

interface OfDevice {
  readonly deviceId: string;
  /** Null for all. */
  readonly repoKey: string | null;
}

interface OfPortion extends OfDevice {
  readonly until: number;
  readonly through: number;
  /** Ids by which agents call them: the first, and the one after the last, null for no end. */
  readonly from: string;
  readonly to: string | null;
}

/** Where a label stands among those of its device. */
export interface LabelPlace {
  readonly repo: string;
  readonly sha256: Buffer;
}

interface SomeLabels extends OfDevice, LabelPlace {
  /** Where those begin that follow; null for no end. */
  readonly toRepo: string | null;
  readonly toSha256: Buffer | null;
}

/** Sessions, or labels, of a device that are looked at in one go. */
const STRETCH = 2_000;

const COLUMNS = "id, team_id AS teamId, device_id AS deviceId, repo_key AS repoKey, external_id AS externalId";
const SESSION = `SELECT ${COLUMNS} FROM trace_sessions`;

/** Every text comes before a blob. */
const WITHIN = "device_id = @deviceId AND external_id >= @from AND external_id < coalesce(@to, x'')";

export const eraseRows = statements((db) => ({
  // All by trace_sessions' unique index (device_id, external_id).
  stretchEnd: db
    .prepare<[string, string], string>(
      `SELECT external_id FROM trace_sessions WHERE device_id = ? AND external_id >= ? ORDER BY external_id LIMIT 1 OFFSET ${STRETCH}`,
    )
    .pluck(),
  sessions: db.prepare<[OfPortion], ErasableSession>(
    `${SESSION} WHERE ${WITHIN} AND updated_at <= @until AND delivery_id <= @through AND (@repoKey IS NULL OR repo_key = @repoKey) ORDER BY id`,
  ),
  grown: db.prepare<[OfPortion], ErasableSession & { createdAt: number }>(
    `SELECT ${COLUMNS}, created_at AS createdAt FROM trace_sessions WHERE ${WITHIN} AND created_at <= @until
       AND (updated_at > @until OR delivery_id > @through) AND (@repoKey IS NULL OR repo_key = @repoKey) ORDER BY id`,
  ),
  // By primary key.
  session: db.prepare<[number], ErasableSession>(`${SESSION} WHERE id = ?`),
  last: db.prepare<[], number>("SELECT max(id) FROM trace_sessions").pluck(),
  // By primary key, a stretch of it.
  naming: db.prepare<[number, number], NamingSession & { userEmail: string }>(
    `SELECT ${COLUMNS}, ${USER_EMAIL} AS userEmail, user_email IS NULL AS byTwin
     FROM trace_sessions WHERE id > ? AND id <= ? AND ${USER_EMAIL} IS NOT NULL`,
  ),
  // By trace_sessions_by_name.
  isNamed: db
    .prepare<[string | null, string | null], number>(
      "SELECT 1 FROM trace_sessions WHERE team_id = ? AND external_id = ?",
    )
    .pluck(),
  // A walk of the table, for who types an id.
  named: db.prepare<[string], ErasableSession>(`${SESSION} WHERE external_id = ? ORDER BY id`),
  asItem: db.prepare<[number], ErasableItem>(
    "SELECT id, delivery_id AS deliveryId, item, document FROM trace_sessions WHERE id = ?",
  ),
  dropSession: db.prepare<[number]>("DELETE FROM trace_sessions WHERE id = ?"),
  // By the tables' indexes by delivery.
  isHeld: db
    .prepare<[{ id: number }], 0 | 1>(
      `SELECT EXISTS (SELECT 1 FROM trace_sessions WHERE delivery_id = @id)
         OR EXISTS (SELECT 1 FROM trace_spans WHERE delivery_id = @id AND item IS NOT NULL)
         OR EXISTS (SELECT 1 FROM trace_labels WHERE delivery_id = @id AND item IS NOT NULL)
         OR EXISTS (SELECT 1 FROM trace_notes WHERE delivery_id = @id)`,
    )
    .pluck(),
  // By trace_spans_by_arrival.
  someSpans: db.prepare<[number, number], Omit<ErasableItem, "document"> & DocumentPlace & { externalId: string }>(
    `SELECT id, delivery_id AS deliveryId, item, external_id AS externalId, ${documentPlace()} FROM trace_spans WHERE session_id = ? ORDER BY id LIMIT ?`,
  ),
  dropSpan: db.prepare<[number]>("DELETE FROM trace_spans WHERE id = ?"),
  // By trace_span_blocks_by_session.
  dropBlocks: db.prepare<[number, number]>("DELETE FROM trace_span_blocks WHERE session_id = ? AND last_span <= ?"),
  // By trace_labels_by_session.
  someLabels: db.prepare<[string, string, number], ErasableItem>(
    "SELECT id, delivery_id AS deliveryId, item, document FROM trace_labels WHERE device_id = ? AND session_id = ? LIMIT ?",
  ),
  label: db.prepare<[number], ErasableItem>(
    "SELECT id, delivery_id AS deliveryId, item, document FROM trace_labels WHERE id = ?",
  ),
  // Both by trace_labels' unique index (device_id, repo_key, content_sha256); sessions by theirs.
  labelsEnd: db.prepare<[LabelPlace & { deviceId: string }], LabelPlace>(
    `SELECT repo_key AS repo, content_sha256 AS sha256 FROM trace_labels
     WHERE device_id = @deviceId AND (repo_key, content_sha256) >= (@repo, @sha256)
     ORDER BY repo_key, content_sha256 LIMIT 1 OFFSET ${STRETCH}`,
  ),
  looseLabels: db.prepare<[SomeLabels], { id: number; deliveryId: number }>(
    `SELECT id, delivery_id AS deliveryId FROM trace_labels l
     WHERE device_id = @deviceId AND (repo_key, content_sha256) >= (@repo, @sha256)
       AND (repo_key, content_sha256) < (coalesce(@toRepo, x''), coalesce(@toSha256, x''))
       AND (@repoKey IS NULL OR repo_key = @repoKey)
       AND (session_id IS NULL OR NOT EXISTS (
         SELECT 1 FROM trace_sessions s WHERE s.device_id = l.device_id AND s.external_id = l.session_id))`,
  ),
  // By primary key.
  dropLabel: db.prepare<[number]>("DELETE FROM trace_labels WHERE id = ?"),
}));
