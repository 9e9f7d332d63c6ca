import { statements } from "../../platform/store/store.ts";

/** A session, and who tells of it. */
export interface Twin {
  readonly id: number;
  readonly deviceId: string;
  readonly externalId: string;
}

/** Who was signed in at a session's agent. Where the session itself names nobody, an exported (OTLP) telling of the same session may. */
export const USER_EMAIL = `coalesce(user_email, iif(exported, NULL, (SELECT o.user_email FROM trace_sessions o
  WHERE o.team_id = trace_sessions.team_id AND o.external_id = trace_sessions.external_id AND o.exported > 0 AND o.user_email IS NOT NULL
  ORDER BY o.id LIMIT 1)))`;

const TWIN = `SELECT o.id, o.device_id AS deviceId, o.external_id AS externalId
  FROM trace_sessions s JOIN trace_sessions o ON o.team_id = s.team_id AND o.external_id = s.external_id AND o.id <> s.id`;

/** Sessions that stand in no list, by who made them. */
export interface UnlistedCount {
  readonly model: string | null;
  readonly agent: string | null;
  readonly sessions: number;
}

/** A session that was sent as a whole. */
export interface KnownRow {
  readonly id: number;
  readonly deviceId: string;
  readonly endedAt: number | null;
}

/** All but the last two by the primary key or the unique index (device_id, external_id), and trace_sessions_by_name. */
export const twinRows = statements((db, has) => ({
  exportedOf: db.prepare<[number], Twin>(`${TWIN} WHERE s.id = ? AND s.exported = 0 AND o.exported > 0 ORDER BY o.id`),
  wholeOf: db.prepare<[string, string], Twin>(
    `${TWIN} WHERE s.device_id = ? AND s.external_id = ? AND s.exported = 2 AND o.exported = 0 ORDER BY o.id LIMIT 1`,
  ),
  othersWhole: db.prepare<[number], Twin>(
    `${TWIN} WHERE s.id = ? AND s.exported = 0 AND o.exported = 0 ORDER BY o.id DESC LIMIT 20`,
  ),
  unnamed: db.prepare<[number], Twin>(
    `${TWIN} WHERE s.id = ? AND s.user_email IS NOT NULL AND o.exported = 0 AND o.user_email IS NULL ORDER BY o.id`,
  ),
  otherWhole: db.prepare<[number], Twin>(`${TWIN} WHERE s.id = ? AND o.exported = 0 LIMIT 1`),
  // By trace_sessions_by_name. Few devices belonged to one machine.
  known: db.prepare<[string, string], KnownRow>(
    `SELECT id, device_id AS deviceId, ended_at AS endedAt FROM trace_sessions
     WHERE team_id = ? AND external_id = ? AND exported = 0 ORDER BY id DESC LIMIT 20`,
  ),
  // By primary key.
  exported: db.prepare<[number], 0 | 1 | 2>("SELECT exported FROM trace_sessions WHERE id = ?").pluck(),
  // By primary key, and by trace_spans_by_session alone.
  sizeOf: db.prepare<[number], { spans: number; commits: number }>(
    `SELECT coalesce(json_array_length(document, '$.commits'), 0) AS commits,
       (SELECT count(*) FROM trace_spans WHERE session_id = s.id) AS spans FROM trace_sessions s WHERE id = ?`,
  ),
  // By primary key.
  unlisted: db
    .prepare<[string], number>(
      "SELECT s.id FROM json_each(?) one CROSS JOIN trace_sessions s WHERE s.id = one.value AND +s.exported = 2",
    )
    .pluck(),
  // By trace_sessions_unlisted, each by trace_sessions_by_name; before sessions counted once there was none.
  unlistedAlone: db.prepare<[], { id: number; deliveryId: number }>(
    has("trace_sessions", "exported")
      ? `SELECT id, delivery_id AS deliveryId FROM trace_sessions s WHERE exported = 2 AND NOT EXISTS (
           SELECT 1 FROM trace_sessions o WHERE o.team_id = s.team_id AND o.external_id = s.external_id AND o.exported = 0)`
      : "SELECT 0 AS id, 0 AS deliveryId WHERE 0",
  ),
  // Within trace_sessions_unlisted.
  unlistedMakers: db.prepare<[{ teamId: string; repoKey: string | null }], UnlistedCount>(
    `SELECT model, agent, count(*) AS sessions FROM trace_sessions
     WHERE team_id = @teamId AND exported = 2 AND (@repoKey IS NULL OR repo_key = @repoKey) GROUP BY model, agent`,
  ),
}));
